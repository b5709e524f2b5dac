import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { systemClock } from '@behalf/kernel';
import { sendRequest } from './tokenRequest.ts';

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** A server that sends the start of a body with this status and never ends it. */
async function startEndlessServer(status: number): Promise<string> {
  const started = createServer((_request, response) => void response.writeHead(status).write('{"a":'));
  server = started;
  await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(started.address() as AddressInfo).port}`;
}

test('a body that the caller does not need cannot delay the response', async () => {
  const url = await startEndlessServer(404);
  const request = { url, headers: {}, fetch, clock: systemClock, timeoutMs: 60_000 };
  const response = await sendRequest({ ...request, needsBody: (status) => status === 200 });
  expect([response.status, response.text]).toEqual([404, undefined]);
});

test('a needed body that never ends fails at the timeout', async () => {
  const url = await startEndlessServer(200);
  const request = { url, headers: {}, fetch, clock: systemClock, timeoutMs: 100 };
  await expect(sendRequest(request)).rejects.toThrow('the request timed out');
});
