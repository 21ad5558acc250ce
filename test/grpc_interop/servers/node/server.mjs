// The interop service on @grpc/grpc-js; node 18 or later.
//
//   node server.mjs FOLDER PROTO [PORT]
//
// FOLDER is where `npm ci` has installed what package.json asks for. Says "ready ADDRESS" once it
// takes calls, on a port of its choice if none or 0 is named, and no capabilities after that:
// grpc-js inflates requests without telling its user, and cannot compress answers. It refuses what
// asks for either with UNIMPLEMENTED. Then a line of standard input each is answered with one line:
//   peers   how many addresses of clients calls came from since the start or the last "forget"
//   forget  0
// Ends in order with SIGTERM, SIGINT or the end of its input.
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

const [folder, proto, port = '0'] = process.argv.slice(2);
if (proto === undefined) {
  console.error('server.mjs: wants the folder of its packages and the path of interop.proto');
  process.exit(1);
}
const require = createRequire(join(resolve(folder), 'package.json'));
const grpc = require('@grpc/grpc-js');
const { loadSync } = require('@grpc/proto-loader');
const { testing } = grpc.loadPackageDefinition(loadSync(proto, { keepCase: true })).grpc;

const INITIAL = 'x-grpc-test-echo-initial';
const TRAILING = 'x-grpc-test-echo-trailing-bin';
const peers = new Set();

// Sends the initial metadata and returns the trailing.
function begin(call) {
  peers.add(call.getPeer());
  const initial = new grpc.Metadata();
  const trailing = new grpc.Metadata();
  for (const value of call.metadata.get(INITIAL).slice(0, 1)) initial.set(INITIAL, value);
  for (const value of call.metadata.get(TRAILING).slice(0, 1)) trailing.set(TRAILING, value);
  call.sendMetadata(initial);
  return trailing;
}

function failure(code, details, metadata) {
  return Object.assign(new Error(details), { code, details, metadata });
}

function statusOf({ code, message, details }, trailing) {
  if (details?.length > 0) trailing.set('grpc-status-details-bin', details);
  return failure(code ?? 0, message ?? '', trailing);
}

// What this server cannot do is refused.
function refusal(request, trailing) {
  const cannot = (what) => failure(grpc.status.UNIMPLEMENTED, `grpc-js does not ${what}`, trailing);
  if (request.expect_compressed?.value) return cannot('tell what came compressed');
  const wanted = [
    request.response_compressed,
    ...(request.response_parameters ?? []).map(({ compressed }) => compressed),
  ];
  return wanted.some((compressed) => compressed?.value) ? cannot('compress answers') : undefined;
}

const pause = (us) => new Promise((done) => setTimeout(done, us / 1000));

// One message for each of the parameters, none of them once the client is gone.
async function answer(call, request) {
  for (const { size = 0, interval_us = 0 } of request.response_parameters ?? []) {
    if (interval_us > 0) await pause(interval_us);
    if (call.cancelled) return;
    call.write({ payload: { body: Buffer.alloc(size) } });
  }
}

// Takes the requests of a stream one after the other; ends it with what `last` does after them.
async function converse(call, take, last) {
  const trailing = begin(call);
  // Or else the end of the requests would end the answers too.
  for await (const request of call.iterator({ destroyOnReturn: false })) {
    const end =
      refusal(request, trailing) ??
      (await take(request)) ??
      (request.response_status?.code ? statusOf(request.response_status, trailing) : undefined);
    if (end !== undefined) return call.emit('error', end);
  }
  await last();
  call.end(trailing);
}

// A client that cancels ends the iteration of its requests with an error: nothing to report.
const quietly = (promise) => promise.catch(() => {});

const service = {
  EmptyCall(call, callback) {
    callback(null, {}, begin(call));
  },

  UnaryCall(call, callback) {
    const trailing = begin(call);
    const { request } = call;
    const refused = refusal(request, trailing);
    if (refused !== undefined) return callback(refused);
    if (request.response_status?.code) {
      return callback(statusOf(request.response_status, trailing));
    }
    const size = request.response_size ?? 0;
    const payload = request.echo_payload
      ? request.payload
      : size > 0
        ? { body: Buffer.alloc(size) }
        : undefined;
    callback(null, { payload }, trailing);
  },

  async StreamingOutputCall(call) {
    const trailing = begin(call);
    const { request } = call;
    const refused = refusal(request, trailing);
    if (refused !== undefined) return call.emit('error', refused);
    await answer(call, request);
    if (call.cancelled) return;
    if (request.response_status?.code) {
      call.emit('error', statusOf(request.response_status, trailing));
    } else {
      call.end(trailing);
    }
  },

  StreamingInputCall(call, callback) {
    const trailing = begin(call);
    let sum = 0;
    let refused;
    call.on('data', (request) => {
      if (refused !== undefined) return;
      refused = refusal(request, trailing);
      if (refused !== undefined) return callback(refused);
      sum += request.payload?.body?.length ?? 0;
    });
    call.on('error', () => {});
    call.on('end', () => {
      if (refused === undefined) callback(null, { aggregated_payload_size: sum }, trailing);
    });
  },

  FullDuplexCall(call) {
    quietly(converse(call, (request) => answer(call, request), () => {}));
  },

  HalfDuplexCall(call) {
    const requests = [];
    quietly(
      converse(
        call,
        (request) => void requests.push(request),
        async () => {
          for (const request of requests) await answer(call, request);
        },
      ),
    );
  },
};

const server = new grpc.Server();
// Without a handler, and so UNIMPLEMENTED: UnimplementedCall, and the whole UnimplementedService.
server.addService(testing.TestService.service, service);

function end() {
  const forced = setTimeout(() => server.forceShutdown(), 1000);
  server.tryShutdown(() => {
    clearTimeout(forced);
    console.log('ended');
    process.exit(0);
  });
}

server.bindAsync(`127.0.0.1:${port}`, grpc.ServerCredentials.createInsecure(), (error, bound) => {
  if (error) {
    console.error(`server.mjs: cannot listen on port ${port}: ${error.message}`);
    process.exit(1);
  }
  process.on('SIGTERM', end);
  process.on('SIGINT', end);
  const lines = createInterface({ input: process.stdin });
  lines.on('line', (line) => {
    if (line === 'forget') peers.clear();
    const known = line === 'peers' || line === 'forget';
    console.log(known ? String(peers.size) : `no such question: ${line}`);
  });
  lines.on('close', end);
  console.log(`ready 127.0.0.1:${bound}`);
});
