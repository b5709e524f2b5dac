import type { ServerResponse } from 'node:http';
import type { SendResponse } from '@behalf/kernel';
import { eventually } from '@behalf/testkit';
import type { FetchOptions } from '../src/index.ts';
import { createEgressRig, PUBLIC, startHttpServer, type EgressRigOptions } from './rig.ts';

const dns = { 'a.example': [PUBLIC] };

/** A server that hands each response to the test. */
export async function createSendRig({
  rig = {},
  ...options
}: Partial<FetchOptions> & { rig?: EgressRigOptions } = {}) {
  const responses: ServerResponse[] = [];
  const closed: boolean[] = [];
  const port = await startHttpServer((request, response) => {
    request.resume();
    response.on('close', () => closed.push(!response.writableFinished));
    responses.push(response);
  });
  const egressRig = createEgressRig({ dns, loopbackPorts: port, ...rig });
  const send = egressRig.egress.sendFor({ audience: 'user-server', ...options });
  const sendRequest = (signal: AbortSignal = new AbortController().signal): Promise<SendResponse> =>
    send({ method: 'POST', url: 'http://a.example/', headers: {}, body: '{}', signal });
  const nextResponse = () => eventually('a request arrives', () => responses.shift());
  /** Asks, and lets `answer` write what comes back. */
  const exchange = async (respond: (response: ServerResponse) => void) => {
    const response = sendRequest();
    respond(await nextResponse());
    return response;
  };
  return { ...egressRig, sendRequest, nextResponse, exchange, closed };
}

export async function* readText(response: SendResponse): AsyncGenerator<string> {
  for await (const chunk of response.chunks()) yield Buffer.from(chunk).toString();
}

/** The client takes its socket back one turn of the event loop after the answer. */
export const flushEventLoop = async () => {
  for (let i = 0; i < 2; i += 1) await new Promise((resolve) => setImmediate(resolve));
};
