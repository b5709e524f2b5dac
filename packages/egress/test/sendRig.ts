import type { ServerResponse } from 'node:http';
import type { SendReply } from '@behalf/kernel';
import { eventually } from '@behalf/testkit';
import type { FetchOptions } from '../src/index.ts';
import { createRig, PUBLIC, serve, type RigOptions } from './rig.ts';

const dns = { 'a.example': [PUBLIC] };

/** A server that hands each response to the test. */
export async function openSend({ rig = {}, ...options }: Partial<FetchOptions> & { rig?: RigOptions } = {}) {
  const responses: ServerResponse[] = [];
  const closed: boolean[] = [];
  const port = await serve((request, response) => {
    request.resume();
    response.on('close', () => closed.push(!response.writableFinished));
    responses.push(response);
  });
  const made = createRig({ dns, to: port, ...rig });
  const send = made.egress.sendFor({ audience: 'user-server', ...options });
  const ask = (signal: AbortSignal = new AbortController().signal): Promise<SendReply> =>
    send({ method: 'POST', url: 'http://a.example/', headers: {}, body: '{}', signal });
  const next = () => eventually('a request arrives', () => responses.shift());
  /** Asks, and lets `answer` write what comes back. */
  const exchange = async (answer: (response: ServerResponse) => void) => {
    const reply = ask();
    answer(await next());
    return reply;
  };
  return { ...made, ask, next, exchange, closed };
}

export async function* read(reply: SendReply): AsyncGenerator<string> {
  for await (const chunk of reply.chunks()) yield Buffer.from(chunk).toString();
}

/** The client takes its socket back one turn of the event loop after the answer. */
export const settle = async () => {
  for (let i = 0; i < 2; i += 1) await new Promise((resolve) => setImmediate(resolve));
};
