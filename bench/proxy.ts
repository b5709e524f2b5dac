import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';

/** The minimum work of any gateway in Node: parses both messages and forwards the text. */
const pool = new Pool(process.argv[2] ?? '', { pipelining: 1 });
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => void forward(Buffer.concat(chunks).toString('utf8')));
  async function forward(body: string): Promise<void> {
    JSON.parse(body);
    const { 'mcp-session-id': session, accept = '' } = request.headers;
    const headers = { 'content-type': 'application/json', accept, 'mcp-session-id': String(session) };
    const upstreamResponse = await pool.request({ method: 'POST', path: request.url ?? '/', headers, body });
    const text = await upstreamResponse.body.text();
    if (text !== '') JSON.parse(text);
    response.writeHead(upstreamResponse.statusCode, { 'content-type': 'application/json' }).end(text);
  }
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ port: (server.address() as AddressInfo).port })}\n`);
});
