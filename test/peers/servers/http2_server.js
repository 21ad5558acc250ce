// An HTTP/2 server for tests:
// node http2_server.js <port or socket path> [--key=FILE --cert=FILE] [--log=FILE] [--slow=R]
//
//   /echo       answers with x-id and x-connection, a number of its own for each connection
//   /post       the same for a POST, after its x-id was appended to the log: what the log has was
//               processed
//   /mirror     sends the body back as it comes, the request's trailers as trailers, and x-seen:
//               its size
//   /sink       answers with the size of the body, then its SHA-256
//   /bytes?n=N  N bytes; byte i is i * 31 + (i >> 8), modulo 256
//   /nth/N      the same as /echo; where N modulo 5 is R, after 50 ms
//   /never      no answer
//   /load       nothing but a report of its load (endpoint-load-metrics)
//
// Commands, a line each on standard input, answered by a line on standard output:
//   stats       "stats total=<connections so far> open=<now> requests=<so far>"
//   resets      "resets=<streams so far that were cancelled, or lost with their connection>"
//   await N     "reached N", as soon as N requests are waiting for the answer that never comes
//   idle        "idle", as soon as no such request is left
//   become slow MS | failing | busy N | well
//               "became HOW": from now on /echo is answered after MS milliseconds, with 500, or as
//               before; or /load says that N requests are in flight, and not 1
//   close       "closed", after GOAWAY to all and the end of what ran; the program ends
'use strict';

const crypto = require('crypto');
const fs = require('fs');
const http2 = require('http2');
const readline = require('readline');

const [where, ...flags] = process.argv.slice(2);
const flag = (name) => {
  const found = flags.find((f) => f.startsWith(`--${name}=`));
  return found === undefined ? undefined : found.slice(name.length + 3);
};
const slow = flag('slow') === undefined ? -1 : Number(flag('slow'));
const log = flag('log') === undefined ? undefined : fs.openSync(flag('log'), 'a');

const sessions = new Map();  // to their numbers
let total = 0;
let requests = 0;
let resets = 0;
let waiting = 0;
let closing = false;
let delay = 0;  // of /echo, ms
let failing = false;
let busy = 1;
const awaited = [];  // {reached(): bool, line}

function tellAwaited() {
  for (let i = awaited.length - 1; i >= 0; --i) {
    if (awaited[i].reached()) console.log(awaited.splice(i, 1)[0].line);
  }
}

function pattern(size) {
  const bytes = Buffer.allocUnsafe(size);
  for (let i = 0; i < size; ++i) bytes[i] = (i * 31 + (i >> 8)) & 255;
  return bytes;
}

function head(stream, headers) {
  const answer = {':status': 200, 'x-connection': String(sessions.get(stream.session))};
  if (headers['x-id'] !== undefined) answer['x-id'] = headers['x-id'];
  return answer;
}

function sink(stream, headers) {
  const hash = crypto.createHash('sha256');
  let size = 0;
  stream.on('data', (piece) => {
    size += piece.length;
    hash.update(piece);
  });
  stream.on('end', () => {
    stream.respond(head(stream, headers));
    stream.end(`${size} ${hash.digest('hex')}`);
  });
}

function mirror(stream, headers) {
  let seen = 0;
  let trailers = {};
  stream.on('data', (piece) => { seen += piece.length; });
  stream.on('trailers', (received) => { trailers = received; });
  stream.on('wantTrailers', () => {
    const back = {'x-seen': String(seen)};
    for (const name of Object.keys(trailers)) back[name] = trailers[name];
    stream.sendTrailers(back);
  });
  stream.respond(head(stream, headers), {waitForTrailers: true});
  stream.pipe(stream);
}

function nth(stream, headers, number) {
  const answer = () => {
    if (stream.destroyed) return;
    stream.respond(head(stream, headers));
    stream.end(headers['x-id']);
  };
  if (number % 5 === slow) {
    setTimeout(answer, 50);
  } else {
    answer();
  }
}

function echo(stream, headers) {
  const answer = () => {
    if (stream.destroyed) return;
    stream.respond({...head(stream, headers), ...(failing && {':status': 500})});
    stream.end(headers['x-id']);
  };
  if (delay > 0) {
    setTimeout(answer, delay);
  } else {
    answer();
  }
}

function never(stream) {
  ++waiting;
  stream.on('close', () => {
    --waiting;
    tellAwaited();
  });
  tellAwaited();
}

function load(stream) {
  const report = `TEXT named_metrics.weft.in_flight=${busy},named_metrics.weft.workers=4,` +
      `named_metrics.weft.service_time_ms=1,named_metrics.weft.latency_ms=${1 + busy}`;
  stream.respond({':status': 204, 'endpoint-load-metrics': report}, {endStream: true});
}

function onStream(stream, headers) {
  ++requests;
  stream.on('error', () => {});
  stream.on('close', () => {
    if (stream.rstCode === http2.constants.NGHTTP2_CANCEL) ++resets;
  });
  const path = headers[':path'];
  if (path === '/post') {
    if (log !== undefined) fs.writeSync(log, headers['x-id'] + '\n');
    stream.resume();
  }
  if (path === '/echo') {
    echo(stream, headers);
  } else if (path === '/post') {
    stream.respond(head(stream, headers));
    stream.end(headers['x-id']);
  } else if (path === '/mirror') {
    mirror(stream, headers);
  } else if (path === '/sink') {
    sink(stream, headers);
  } else if (path.startsWith('/bytes?n=')) {
    stream.respond(head(stream, headers));
    stream.end(pattern(Number(path.slice(9))));
  } else if (path.startsWith('/nth/')) {
    nth(stream, headers, Number(path.slice(5)));
  } else if (path === '/load') {
    load(stream);
  } else if (path === '/never') {
    never(stream);
  } else {
    stream.respond({':status': 404});
    stream.end();
  }
}

function onSession(session) {
  sessions.set(session, ++total);
  session.on('error', () => {});
  session.on('close', () => sessions.delete(session));
  if (closing) session.close();
}

const options = {maxSessionMemory: 256};
if (flag('key') !== undefined) {
  options.key = fs.readFileSync(flag('key'));
  options.cert = fs.readFileSync(flag('cert'));
}
const server =
    options.key === undefined ? http2.createServer(options) : http2.createSecureServer(options);
server.on('stream', onStream);
server.on('session', onSession);
server.on('sessionError', () => {});
server.on('error', (error) => {
  console.error(error);
  process.exit(1);
});

function onCommand(line) {
  const [command, argument, ms] = line.split(' ');
  if (command === 'stats') {
    console.log(`stats total=${total} open=${sessions.size} requests=${requests}`);
  } else if (command === 'resets') {
    console.log(`resets=${resets}`);
  } else if (command === 'await') {
    awaited.push({reached: () => waiting >= Number(argument), line: `reached ${argument}`});
    tellAwaited();
  } else if (command === 'idle') {
    awaited.push({reached: () => waiting === 0, line: 'idle'});
    tellAwaited();
  } else if (command === 'become') {
    failing = argument === 'failing';
    delay = argument === 'slow' ? Number(ms) : 0;
    busy = argument === 'busy' ? Number(ms) : 1;
    console.log(`became ${argument}`);
  } else if (command === 'close') {
    closing = true;
    server.close(() => {
      console.log('closed');
      process.exit(0);
    });
    for (const session of sessions.keys()) session.close();
  }
}

readline.createInterface({input: process.stdin}).on('line', onCommand);
const listening = () => console.log('listening');
if (/^\d+$/.test(where)) {
  server.listen(Number(where), '127.0.0.1', listening);
} else {
  server.listen(where, listening);
}
