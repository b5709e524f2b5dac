import { eventually } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { createGrantRigs } from './grantRig.ts';
import { atReplica, createLegacyClient, createWireClient, type LegacyClient } from './mcpClient.ts';
import { readStream } from './mcpStream.ts';
import type { TestUser } from './users.ts';

const COMPLETE = 'notifications/elicitation/complete';
const capabilities = { elicitation: { url: {} } };
const call = { name: 'notes__echo', arguments: {} };

async function open(client: LegacyClient) {
  const closing = new AbortController();
  const { signal } = closing;
  return readStream(await client.send('GET', { accept: 'text/event-stream' }, { signal }), closing);
}

/** Calls, and is told to open a page. Its id. */
async function elicited(client: LegacyClient): Promise<string> {
  const { error } = (await client.request('tools/call', call)).message;
  expect(error?.code).toBe(-32042);
  const [first] = error?.data?.['elicitations'] as [{ elicitationId: string }];
  return first.elicitationId;
}

const completed = ({ messages }: Awaited<ReturnType<typeof open>>) =>
  messages.filter(({ method }) => method === COMPLETE).map(({ params }) => params);

describe('a session that was told to open a page', () => {
  const begin = createGrantRigs();

  test('hears at any replica that its user has connected the server', async () => {
    const { gateway, users, connectUser, startReplica } = await begin({ names: ['Ada', 'Bob'] });
    const [ada, bob] = users as [TestUser, TestUser];
    const [there] = (await startReplica()) as [TestUser];
    const client = await createWireClient(ada, gateway.url);
    const session = await createLegacyClient(client, { capabilities });
    const bobs = await createLegacyClient(await createWireClient(bob, gateway.url), { capabilities });
    const other = await createLegacyClient(client, { capabilities });
    const [far, untouched, asking] = [
      await open(atReplica(session, new URL('/', (await there.get('/health')).url).href)),
      await open(bobs),
      await open(other),
    ];
    const id = await elicited(session);
    await elicited(bobs);
    await connectUser(ada);
    await eventually('it is told', () => completed(far).length > 0);
    expect([completed(far), completed(untouched)]).toEqual([[{ elicitationId: id }], []]);
    expect((await session.request('tools/call', call)).message.result).toMatchObject({
      content: [{ text: '{}' }],
    });
    // Neither another user’s session nor one that was asked for nothing.
    await connectUser(bob);
    await eventually('Bob is told of his own', () => completed(untouched).length > 0);
    expect([completed(untouched).length, completed(asking), completed(far).length]).toEqual([1, [], 1]);
  });

  test('hears it when it comes back later, once', async () => {
    const { gateway, users, connectUser } = await begin();
    const [ada] = users as [TestUser];
    const session = await createLegacyClient(await createWireClient(ada, gateway.url), { capabilities });
    const id = await elicited(session);
    const early = await open(session);
    early.close();
    await eventually('it has left', () => early.isEnded);
    await connectUser(ada);
    const late = await open(session);
    await eventually('it is told', () => completed(late).length > 0);
    expect([completed(early), completed(late)]).toEqual([[], [{ elicitationId: id }]]);
    const later = await open(session);
    await eventually('the last to come reads', () => late.isEnded);
    await session.request('ping');
    expect(completed(later)).toEqual([]);
  });
});
