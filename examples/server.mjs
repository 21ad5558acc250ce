// A small HTTP/2 server to try Weft against; node 18 or later, nothing to install.
//
//   node examples/server.mjs [NAME] [--host 127.0.0.1] [--port 0] [--late MS]
//                            [--cert FILE --key FILE [--client-ca FILE]]
//
// Port 0 takes a free one. Without a certificate it speaks plain HTTP/2 (h2c); with --client-ca it
// wants a certificate from its clients too. With --late every tenth of the one-line answers comes
// that many milliseconds late. Prints "NAME ADDRESS:PORT" when it is ready; ends with
// SIGTERM or SIGINT.
//
//   /stats        how many connections and requests there were, as JSON; does not count itself
//   /echo         sends the request body back, piece by piece, and its trailers
//   /lines/N      N lines, one each 100 ms
//   /slow/MS      answers after that many milliseconds
//   /status/CODE  answers with that status
//   /reset        resets the stream instead of answering
//   /hangup       closes the connection instead of answering
//   /become/HOW   from now on the one-line answers come late (/become/slow/MS), are a status of 500
//                 (/become/failing), or are as before (/become/well)
//   else          one line: the server's name, the method and the path
//
// Every answer carries `server: NAME` and the request's x-id. The one-line answers also say how
// much there is to do: how many others of them are in flight, of which node works on one at a time.
import { readFileSync } from 'node:fs';
import http2 from 'node:http2';
import { parseArgs } from 'node:util';

function fail(sentence) {
  console.error(`server.mjs: ${sentence}`);
  process.exit(1);
}

function readArguments() {
  const option = (value) => ({ type: 'string', ...(value && { default: value }) });
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        host: option('127.0.0.1'),
        port: option('0'),
        cert: option(),
        key: option(),
        'client-ca': option(),
        late: option('0'),
      },
    });
  } catch (error) {
    return fail(error.message);
  }
}

const { values: options, positionals } = readArguments();
if (!/^\d{1,5}$/.test(options.port) || Number(options.port) > 65535) {
  fail(`--port ${options.port} is not a number from 0 to 65535`);
}
const name = positionals[0] ?? 'server';
const late = Number(options.late);
if (!(late >= 0 && late <= 60000)) fail(`--late ${options.late} is not a number from 0 to 60000`);
let greetings = 0;
let greeting = 0; // In flight.
const mood = { delay: 0, failing: false };
const stats = { name, connections: 0, open: 0, requests: 0 };

const routes = {
  stats(stream, head) {
    stream.respond({ ...head, 'content-type': 'application/json' });
    stream.end(JSON.stringify(stats) + '\n');
  },
  echo(stream, head) {
    let trailers = {};
    stream.on('trailers', (received) => (trailers = { ...received }));
    const answer = { ...head, 'content-type': 'application/octet-stream' };
    stream.respond(answer, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers(trailers));
    stream.pipe(stream);
  },
  lines(stream, head, count) {
    stream.respond({ ...head, 'content-type': 'text/plain' });
    let line = 0;
    const next = () => {
      if (stream.destroyed) return;
      if (line === count) return stream.end();
      stream.write(`line ${++line} of ${count}\n`);
      setTimeout(next, 100);
    };
    next();
  },
  slow(stream, head, ms) {
    setTimeout(() => {
      if (!stream.destroyed) greet(stream, head);
    }, ms);
  },
  status(stream, head, code) {
    const status = code >= 200 && code <= 599 ? code : 400;
    stream.respond({ ...head, ':status': status, 'content-type': 'text/plain' });
    stream.end(`${name}: ${status}\n`);
  },
  reset: (stream) => stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR),
  hangup: (stream) => stream.session.destroy(),
  become(stream, head) {
    const [how, ms] = stream.sentTo[':path'].split('/').slice(2);
    mood.failing = how === 'failing';
    mood.delay = how === 'slow' ? Number(ms) || 0 : 0;
    greet(stream, head);
  },
};

function greet(stream, head) {
  const { ':method': method, ':path': path } = stream.sentTo;
  stream.respond({ ...head, 'content-type': 'text/plain' });
  stream.end(`${name}: ${method} ${path}\n`);
}

// In its mood, with a report of its load in the text form of ORCA (github.com/cncf/xds).
function greetAsItIs(stream, head) {
  ++greeting;
  stream.on('close', () => --greeting);
  const answer = () => {
    if (stream.destroyed) return;
    head['endpoint-load-metrics'] =
      `TEXT named_metrics.weft.in_flight=${greeting - 1}, named_metrics.weft.workers=1`;
    if (mood.failing) return routes.status(stream, head, 500);
    greet(stream, head);
  };
  const ms = mood.delay + (late > 0 && ++greetings % 10 === 0 ? late : 0);
  if (ms > 0) return void setTimeout(answer, ms);
  answer();
}

function onStream(stream, headers) {
  stream.sentTo = headers;
  stream.on('error', () => {}); // A client that cancels is nothing to report.
  const head = { ':status': 200, server: name };
  if (headers['x-id'] !== undefined) head['x-id'] = headers['x-id'];
  const [, route, argument] = headers[':path'].split(/[/?]/);
  if (route !== 'stats') ++stats.requests;
  if (route !== 'echo') stream.resume();
  if (Object.hasOwn(routes, route)) {
    routes[route](stream, head, Number(argument) || 0);
  } else {
    greetAsItIs(stream, head);
  }
}

function onSession(session) {
  ++stats.connections;
  ++stats.open;
  session.on('error', () => {});
  session.on('close', () => --stats.open);
}

function makeServer() {
  if (!options.cert !== !options.key) fail('--cert and --key go together');
  if (!options.cert) return http2.createServer();
  const ca = options['client-ca'];
  return http2.createSecureServer({
    cert: readFileSync(options.cert),
    key: readFileSync(options.key),
    ...(ca && { ca: readFileSync(ca), requestCert: true }),
  });
}

let server;
try {
  server = makeServer();
} catch (error) {
  fail(error.message);
}
server.on('stream', onStream);
server.on('session', onSession);
server.on('error', (error) => {
  fail(`cannot listen on ${options.host}:${options.port}: ${error.message}`);
});
server.listen(Number(options.port), options.host, () => {
  const { address, port, family } = server.address();
  console.log(`${name} ${family === 'IPv6' ? `[${address}]` : address}:${port}`);
});
