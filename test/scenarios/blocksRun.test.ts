import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { checkBlock, runBlock, saveBlock, shareBlock, sharingSettings } from './blockRig.ts';
import { createGrantRigs, type GrantRig, type GrantRigOptions } from './grantRig.ts';
import type { CallBody, TestUser } from './users.ts';
import { createGatewayRig } from './gatewayRig.ts';
import { httpDefinition, renderYaml } from './serverYaml.ts';

const createRig = createGrantRigs();

const inputSchema = {
  type: 'object',
  properties: { text: { type: 'string', title: 'Text' } },
  required: ['text'],
};

/** A name of it that is not the token: what is shown to a server is masked in what it answers. */
function fingerprint(authorization: unknown): string {
  if (typeof authorization !== 'string') return 'nothing';
  return `Bearer ${createHash('sha256').update(authorization).digest('hex').slice(0, 16)}`;
}

/** Answers with which token it was shown. */
const whoami = {
  name: 'whoami',
  inputSchema,
  handler: (_args: object, { request }: { request: { headers: Record<string, unknown> } }) => ({
    content: [{ type: 'text', text: fingerprint(request.headers['authorization']) }],
  }),
};

const shown = ({ content }: CallBody) => content?.[0]?.text;
const inputs = { text: 'hello' };

/** With Ada's block of a server where each user signs in, shared with Bob. Ada alone is signed in there. */
async function begin(options: GrantRigOptions = {}) {
  const rig = await createRig({
    names: ['Ada', 'Bob'],
    mcp: { tools: [whoami], ...options.mcp },
    settings: sharingSettings,
    ...(options.server && { server: options.server }),
  });
  const [ada, bob] = rig.users as [TestUser, TestUser];
  expect((await rig.connectUser(ada)).pathname).toBe('/oauth/success');
  const { id } = await saveBlock(ada, { server: 'notes', tool: 'whoami', title: 'Who' });
  await shareBlock(ada, id, [bob]);
  return { ...rig, ada, bob, id };
}

const calls = ({ mcp }: Pick<GrantRig, 'mcp'>) =>
  mcp.guardedRequests.filter(({ request }) => request.message?.method === 'tools/call');

/** What Bob, or whoever has to, is told to do at the server. */
const signIn = (id: string, more: object = {}) => [
  {
    needs: [
      {
        ...{ kind: 'sign_in', server: 'notes', title: 'notes', connectUrl: '/servers/notes' },
        ...{ reason: 'absent', blocks: [id], ...more },
      },
    ],
  },
];

describe('a shared block', () => {
  test('asks a new user for their own sign-in, and then runs with it', async () => {
    const { ada, bob, id, connectUser, mcp, as } = await begin();
    const from = mcp.guardedRequests.length;
    const before = as.counters.tokenHits;
    const refused = await runBlock(bob, id, { inputs });
    expect([refused.status, refused.body.code]).toEqual([422, 'BLOCK_INCOMPLETE']);
    expect(refused.body.missing).toEqual({ inputs: [], credentials: signIn(id) });
    // Nothing was asked of anybody for it.
    expect([mcp.guardedRequests.length - from, as.counters.tokenHits - before]).toEqual([0, 0]);
    expect((await connectUser(bob)).pathname).toBe('/oauth/success');
    const [ofBob, ofAda] = [await runBlock(bob, id, { inputs }), await runBlock(ada, id, { inputs })];
    expect([ofBob.status, ofAda.status]).toEqual([200, 200]);
    expect(shown(ofBob.body)).toMatch(/^Bearer /);
    expect(shown(ofBob.body)).not.toBe(shown(ofAda.body));
  });

  test('200 runs of two users at once, each with their own token alone', async () => {
    const { ada, bob, id, connectUser } = await begin();
    await connectUser(bob);
    const users = [ada, bob];
    const own: (string | undefined)[] = [];
    for (const who of users) own.push(shown((await runBlock(who, id, { inputs })).body));
    expect(new Set(own).size).toBe(2);
    await Promise.all(
      Array.from({ length: 10 }, async (_, lane) => {
        for (let turn = 0; turn < 20; turn += 1) {
          const who = (lane + turn) % 2;
          expect(shown((await runBlock(users[who]!, id, { inputs })).body)).toBe(own[who]);
        }
      }),
    );
  }, 120_000);

  test('the author’s deletion of their credential changes nothing for others', async () => {
    const rig = await begin();
    const { ada, bob, id, connectUser } = rig;
    await connectUser(bob);
    const before = shown((await runBlock(bob, id, { inputs })).body);
    expect((await ada.post('/api/mcp/notes/oauth/disconnect', {})).status).toBe(200);
    const { body } = await runBlock(bob, id, { inputs });
    expect([body.isError, shown(body)]).toEqual([false, before]);
    const made = calls(rig).length;
    const refused = await runBlock(ada, id, { inputs });
    expect([refused.status, refused.body.missing]).toEqual([
      422,
      { inputs: [], credentials: signIn(id, { reason: 'revoked' }) },
    ]);
    expect(calls(rig)).toHaveLength(made);
  });
});

describe('a version that was read', () => {
  test('is the one that runs: another is refused before anything is sent', async () => {
    const rig = await begin();
    const { ada, bob, id, connectUser } = rig;
    await connectUser(bob);
    const runSeen = async (version: string) => {
      const headers = { 'if-match': version };
      return (await bob.send('POST', `/api/mcp/blocks/${id}/run`, { inputs }, headers)).status;
    };
    expect(await runSeen('"1"')).toBe(200);
    const fixed = { inputs: { text: { mode: 'fixed', value: 'what Bob never read' } } };
    expect((await ada.send('PATCH', `/api/mcp/blocks/${id}`, fixed)).status).toBe(200);
    const made = calls(rig).length;
    expect(await runSeen('"1"')).toBe(412);
    expect(calls(rig)).toHaveLength(made);
  });
});

describe('a credential that was deleted', () => {
  test('is absent for a run that names it, and never becomes an anonymous run or another credential', async () => {
    const rig = await begin({
      mcp: { guard: { access: 'anonymous' } },
      server: { requiresOAuth: undefined, auth: 'optional' },
    });
    const { ada, bob, id, connectUser, startSignIn } = rig;
    await connectUser(ada, await startSignIn(ada, { label: 'work' }));
    const named = await runBlock(ada, id, { inputs, credential: 'work' });
    const usual = await runBlock(ada, id, { inputs });
    expect([shown(named.body), shown(usual.body)]).toEqual([
      expect.stringMatching(/^Bearer /),
      expect.stringMatching(/^Bearer /),
    ]);
    expect(shown(named.body)).not.toBe(shown(usual.body));
    expect((await ada.send('DELETE', '/api/mcp/notes/credentials/work')).status).toBe(200);
    const made = calls(rig).length;
    const refused = await runBlock(ada, id, { inputs, credential: 'work' });
    expect([refused.status, refused.body.missing?.credentials]).toEqual([422, signIn(id, { label: 'work' })]);
    expect((await runBlock(ada, id, { inputs, credential: 'never' })).body.missing?.credentials).toEqual(
      signIn(id, { label: 'never' }),
    );
    // All of them: who had one does not go without.
    await ada.post('/api/mcp/notes/oauth/disconnect', {});
    for (const credential of ['work', 'default', undefined]) {
      const { status } = await runBlock(ada, id, { inputs, ...(credential && { credential }) });
      expect([credential, status]).toEqual([credential, 422]);
    }
    expect(calls(rig)).toHaveLength(made);
    // Who never had one does, where that is allowed.
    expect(shown((await runBlock(bob, id, { inputs })).body)).toBe('nothing');
  });

  test('several without a default are offered in a stable order, and the run names one', async () => {
    const { ada, id, connectUser, startSignIn } = await begin();
    for (const label of ['work', 'club']) await connectUser(ada, await startSignIn(ada, { label }));
    const tokens = [];
    for (const credential of ['club', 'work']) {
      tokens.push(shown((await runBlock(ada, id, { inputs, credential })).body));
    }
    expect(new Set(tokens).size).toBe(2);
    await ada.send('DELETE', '/api/mcp/notes/credentials/default');
    const { status, body } = await runBlock(ada, id, { inputs });
    expect([status, body.missing?.credentials]).toMatchObject([
      422,
      [
        {
          needs: [
            {
              kind: 'choose',
              choices: [
                { label: 'club', kind: 'oauth_code', isDefault: false },
                { label: 'work', kind: 'oauth_code', isDefault: false },
              ],
            },
          ],
        },
      ],
    ]);
    expect(shown((await runBlock(ada, id, { inputs, credential: 'work' })).body)).toBe(tokens[1]);
    await ada.send('DELETE', '/api/mcp/notes/credentials/club');
    expect(shown((await runBlock(ada, id, { inputs })).body)).toBe(tokens[1]);
  });

  test('choices keep their order whichever is named or becomes the default; only who never had one goes without', async () => {
    const server = { requiresOAuth: undefined, auth: 'optional' };
    const { ada, bob, id, connectUser, startSignIn } = await begin({ server });
    for (const label of ['work', 'club']) await connectUser(ada, await startSignIn(ada, { label }));
    const look = async (who: TestUser, credential?: string) => {
      const credentials = credential === undefined ? {} : { [id]: credential };
      const { body } = await checkBlock(who, { ids: [id], inputs: { [id]: inputs }, credentials });
      const { choices, selected, mayGoWithout } = body.blocks[0]!.credentials!;
      return [choices.map(({ label }) => label), selected, mayGoWithout];
    };
    const order = ['club', 'default', 'work'];
    expect(await look(ada)).toEqual([order, 'default', false]);
    for (const named of ['work', 'club']) expect(await look(ada, named)).toEqual([order, named, false]);
    await ada.send('PATCH', '/api/mcp/notes/credentials/work', { isDefault: true });
    await runBlock(ada, id, { inputs });
    expect(await look(ada)).toEqual([order, 'work', false]);
    expect(await look(bob)).toEqual([[], null, true]);
  });

  test('two credentials of one user serve runs at once, each its own', async () => {
    const { ada, id, connectUser, startSignIn } = await begin();
    await connectUser(ada, await startSignIn(ada, { label: 'work' }));
    const labels = ['default', 'work'];
    const own: (string | undefined)[] = [];
    for (const credential of labels) own.push(shown((await runBlock(ada, id, { inputs, credential })).body));
    expect(new Set(own).size).toBe(2);
    await Promise.all(
      Array.from({ length: 6 }, async (_, lane) => {
        for (let turn = 0; turn < 10; turn += 1) {
          const which = (lane + turn) % 2;
          const { status, body } = await runBlock(ada, id, { inputs, credential: labels[which] });
          expect([status, shown(body)]).toEqual([200, own[which]]);
        }
      }),
    );
  }, 120_000);
});

describe('what is missing', () => {
  const rig = createGatewayRig();
  const keyed = (url: string) =>
    httpDefinition(url, {
      headers: { 'x-key': '{{KEY}}' },
      customUserVars: { KEY: { title: 'Key', description: 'Your key' } },
    });

  test('inputs and credentials are named in one answer, and nothing was asked of anybody', async () => {
    const { ada, bob, id, mcp, as } = await begin();
    const from = mcp.guardedRequests.length;
    const before = as.counters.tokenHits;
    const text = { block: id, name: 'text', title: 'Text' };
    const both = await runBlock(bob, id);
    expect([both.status, both.body.code, both.body.missing]).toEqual([
      422,
      'BLOCK_INCOMPLETE',
      { inputs: [text], credentials: signIn(id) },
    ]);
    const one = await runBlock(ada, id);
    expect(one.body.missing).toEqual({ inputs: [text], credentials: [] });
    expect([mcp.guardedRequests.length - from, as.counters.tokenHits - before]).toEqual([0, 0]);
  });

  test('values that users enter are named with their texts', async () => {
    const server = await rig.startServer({ era: 'legacy', tools: [{ name: 'echo', inputSchema }] });
    const [ada, bob] = (await rig.start(renderYaml({ mine: keyed(server.url) }, sharingSettings), [
      'Ada',
      'Bob',
    ])) as [TestUser, TestUser];
    const set = { pluginKey: 'mcp_mine', action: 'install', auth: { KEY: 'k' } };
    await ada.post('/api/user/plugins', set);
    const { id } = await saveBlock(ada, { server: 'mine', tool: 'echo' });
    await shareBlock(ada, id, [bob]);
    const requestCount = server.requests.length;
    const { status, body } = await runBlock(bob, id, {});
    expect([status, body.missing]).toEqual([
      422,
      {
        inputs: [{ block: id, name: 'text', title: 'Text' }],
        credentials: [
          {
            needs: [
              {
                ...{ kind: 'values', server: 'mine', title: 'mine', connectUrl: '/servers/mine' },
                values: [{ name: 'KEY', title: 'Key', description: 'Your key', sensitive: true }],
                blocks: [id],
              },
            ],
          },
        ],
      },
    ]);
    expect((await runBlock(bob, id, { inputs, credential: 'work' })).body.code).toBe(
      'MCP_CREDENTIAL_NOT_FOUND',
    );
    expect(server.requests).toHaveLength(requestCount);
    await bob.post('/api/user/plugins', set);
    expect(await runBlock(bob, id, { inputs })).toMatchObject({ status: 200, body: { isError: false } });
  });
});
