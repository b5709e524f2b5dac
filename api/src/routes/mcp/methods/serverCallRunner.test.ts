import { GatewayError, type Inbound, type JsonObject, type ServerOutcome } from '@behalf/gateway';
import { createKeyring, systemRandom } from '@behalf/kernel';
import { aPrincipal, createFakeClock } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import type { McpRequest } from '../request.ts';
import { createRequestStates } from '../requestState.ts';
import { createResultJson } from '../results.ts';
import { type MethodParts, createServerCallRunner } from './serverCallRunner.ts';

const question = { one: { method: 'elicitation/create', params: {} } };
const asks: ServerOutcome = {
  kind: 'input_required',
  result: { resultType: 'input_required', inputRequests: question, requestState: 'their state' },
};
const done: ServerOutcome = { kind: 'result', result: { content: [] }, json: undefined };

describe('a sign-in that is needed in the middle of a dialogue', () => {
  /** Each work is one round of the server; what it was given is kept. */
  function rig(...works: (() => ServerOutcome)[]) {
    const clock = createFakeClock();
    const keyring = createKeyring([Buffer.alloc(32, 1)], systemRandom);
    const receivedInputs: (JsonObject | undefined)[] = [];
    const parts = {
      ...{ clock, results: createResultJson({} as never), states: createRequestStates({ keyring, clock }) },
      suspendedCalls: {
        begin: (_: McpRequest, inbound: Inbound, _seal: unknown, run: (own: Inbound) => unknown) =>
          run(inbound),
      },
      connectLinks: { buildConnectPath: () => '/servers/s?for=x', computeElicitationId: async () => 'card' },
      ...{ requestIds: () => 'r', baseUrl: () => 'https://gateway.example', labelOf: () => '' },
      ...{ metrics: { observe: () => undefined }, logger: { warn: () => undefined } },
    } as unknown as MethodParts;
    const calling = createServerCallRunner(parts);
    return {
      receivedInputs,
      call: async (params: JsonObject = {}): Promise<JsonObject> => {
        const request: McpRequest = {
          ...{
            caller: aPrincipal(),
            params: { name: 'x', ...params },
            endpoint: { kind: 'all', search: false },
            id: 1,
          },
          ...{ era: 'modern', version: '2026-07-28', method: 'tools/call', logLevel: undefined },
          ...{ capabilities: { elicitation: { form: {}, url: {} } }, session: undefined, headers: {} },
          ...{ signal: new AbortController().signal, reply: {} as never },
        };
        const text = await calling.run(
          request,
          { server: 's', operation: 'tool' },
          calling.toInbound(request),
          async (inbound) => {
            receivedInputs.push(inbound.peer?.retry);
            return works.shift()!();
          },
        );
        return JSON.parse(text) as JsonObject;
      },
    };
  }

  const signIn = () => {
    throw new GatewayError('MCP_AUTHORIZATION_REQUIRED');
  };
  const connected = { connect: { action: 'accept' } };

  test('and the dialogue goes on where it was', async () => {
    const { call, receivedInputs } = rig(
      () => asks,
      signIn,
      signIn,
      () => done,
    );
    const first = await call();
    const answers = { one: { action: 'accept', content: { a: 1 } } };
    let response = await call({ requestState: first['requestState'], inputResponses: answers });
    for (let times = 0; times < 2; times += 1) {
      expect(response).toMatchObject({ inputRequests: { connect: { params: { mode: 'url' } } } });
      response = await call({ requestState: response['requestState'], inputResponses: connected });
    }
    expect(response).toMatchObject({ resultType: 'complete' });
    // The answer to our own question is none to the server's.
    const theirs = { requestState: 'their state', inputResponses: answers };
    expect(receivedInputs).toEqual([undefined, theirs, theirs, theirs]);
  });

  test('without answers that are too long to carry around', async () => {
    const { call, receivedInputs } = rig(
      () => asks,
      signIn,
      () => done,
    );
    const first = await call();
    const answers = { one: { action: 'accept', content: { a: 'x'.repeat(300_000) } } };
    const response = await call({ requestState: first['requestState'], inputResponses: answers });
    await call({ requestState: response['requestState'], inputResponses: connected });
    expect(receivedInputs.at(-1)).toEqual({ requestState: 'their state' });
  });
});
