import { eventually } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { createGrantScenes } from './grantScene.ts';
import { elsewhere, legacyClient, wireClient, type LegacyClient } from './mcpClient.ts';
import { readStream } from './mcpStream.ts';
import type { Person } from './people.ts';

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
  const { error } = (await client.request('tools/call', call)).answer;
  expect(error?.code).toBe(-32042);
  const [first] = error?.data?.['elicitations'] as [{ elicitationId: string }];
  return first.elicitationId;
}

const completed = ({ messages }: Awaited<ReturnType<typeof open>>) =>
  messages.filter(({ method }) => method === COMPLETE).map(({ params }) => params);

describe('a session that was told to open a page', () => {
  const begin = createGrantScenes();

  test('hears at any replica that its user has connected the server', async () => {
    const { gateway, people, connect, beside } = await begin({ names: ['Ada', 'Bob'] });
    const [ada, bob] = people as [Person, Person];
    const [there] = (await beside()) as [Person];
    const client = await wireClient(ada, gateway.url);
    const session = await legacyClient(client, { capabilities });
    const bobs = await legacyClient(await wireClient(bob, gateway.url), { capabilities });
    const other = await legacyClient(client, { capabilities });
    const [far, untouched, asking] = [
      await open(elsewhere(session, new URL('/', (await there.get('/health')).url).href)),
      await open(bobs),
      await open(other),
    ];
    const id = await elicited(session);
    await elicited(bobs);
    await connect(ada);
    await eventually('it is told', () => completed(far).length > 0);
    expect([completed(far), completed(untouched)]).toEqual([[{ elicitationId: id }], []]);
    expect((await session.request('tools/call', call)).answer.result).toMatchObject({
      content: [{ text: '{}' }],
    });
    // Neither another user’s session nor one that was asked for nothing.
    await connect(bob);
    await eventually('Bob is told of his own', () => completed(untouched).length > 0);
    expect([completed(untouched).length, completed(asking), completed(far).length]).toEqual([1, [], 1]);
  });

  test('hears it when it comes back later, once', async () => {
    const { gateway, people, connect } = await begin();
    const [ada] = people as [Person];
    const session = await legacyClient(await wireClient(ada, gateway.url), { capabilities });
    const id = await elicited(session);
    const early = await open(session);
    early.close();
    await eventually('it has left', () => early.ended);
    await connect(ada);
    const late = await open(session);
    await eventually('it is told', () => completed(late).length > 0);
    expect([completed(early), completed(late)]).toEqual([[], [{ elicitationId: id }]]);
    const later = await open(session);
    await eventually('the last to come reads', () => late.ended);
    await session.request('ping');
    expect(completed(later)).toEqual([]);
  });
});
