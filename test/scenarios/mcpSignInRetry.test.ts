import { eventually } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { createGrantRigs } from './grantRig.ts';
import { createLegacyClient, sendModern, createWireClient, type WireClient } from './mcpClient.ts';
import type { TestUser } from './users.ts';

const createRig = createGrantRigs();
const capabilities = { elicitation: { url: {} } };

/** Everything for which a user can be sent to a page first, at the endpoint of all servers. */
const requests = [
  ['tools/call', { name: 'notes__echo', arguments: { a: 1 } }],
  ['prompts/get', { name: 'notes__greet' }],
  ['resources/read', { uri: 'behalf:notes/x:1' }],
] as const;

describe('a call that waits for its user to connect a server', () => {
  async function begin() {
    const rig = await createRig({
      names: ['Ada', 'Bob'],
      mcp: {
        capabilities: { tools: {}, prompts: {}, resources: {} },
        methods: {
          'prompts/list': () => ({ prompts: [{ name: 'greet' }] }),
          'prompts/get': () => ({ messages: [] }),
          'resources/read': () => ({ contents: [{ uri: 'x:1', text: '1' }] }),
        },
      },
    });
    const [ada, bob] = rig.users as [TestUser, TestUser];
    return { ...rig, ada, bob, client: await createWireClient(ada, rig.gateway.url) };
  }

  /** Asks, and gives what came, and the same request as a client sends it after the page. */
  async function requestElicitation(client: WireClient, method: string, params: object) {
    const { message } = await sendModern(client, method, { ...params }, { capabilities });
    const { requestState } = message.result ?? {};
    const accepted = { requestState, inputResponses: { connect: { action: 'accept' } } };
    return {
      kind: message.result?.['resultType'],
      result: message.result,
      again: { ...params, ...accepted },
    };
  }

  test('it goes on with what their sign-in gave, at any replica', async () => {
    const { ada, bob, client, connectUser, mcp, startReplica } = await begin();
    const ran = () =>
      mcp.guardedRequests.filter(({ request }) =>
        requests.some(([method]) => method === request.message?.method),
      );
    const retries: [method: string, again: object][] = [];
    for (const [method, params] of requests) {
      const first = await requestElicitation(client, method, params);
      expect([method, first.kind]).toEqual([method, 'input_required']);
      retries.push([method, first.again]);
    }
    // That a page was opened is the client's word. What counts is whether this user has connected.
    await connectUser(bob);
    for (const [index, [method, again]] of retries.entries()) {
      const still = await requestElicitation(client, method, again);
      expect([method, still.kind]).toEqual([method, 'input_required']);
      retries[index] = [method, still.again];
    }
    expect(ran()).toEqual([]);
    await connectUser(ada);
    const [there] = (await startReplica()) as [TestUser];
    const otherReplicaClient = await createWireClient(there, new URL((await there.get('/live')).url).origin);
    for (const [method, again] of retries) {
      for (const at of [client, otherReplicaClient]) {
        const { kind } = await eventually('the other replica has heard of it', async () => {
          const now = await requestElicitation(at, method, again);
          return now.kind === 'complete' ? now : null;
        });
        expect([method, kind]).toEqual([method, 'complete']);
      }
    }
    const bearers = new Set(ran().map(({ bearer }) => bearer));
    expect([ran().length, bearers.size]).toEqual([2 * requests.length, 1]);
  });

  test('and so does a client with a session', async () => {
    const { ada, client, connectUser } = await begin();
    const legacy = await createLegacyClient(client, { capabilities });
    for (const [method, params] of requests)
      expect((await legacy.request(method, params)).message.error?.code).toBe(-32_042);
    await connectUser(ada);
    for (const [method, params] of requests) {
      const { message } = await legacy.request(method, params);
      expect([method, message.error, typeof message.result]).toEqual([method, undefined, 'object']);
    }
  });
});
