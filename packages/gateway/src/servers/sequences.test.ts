import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type ConfigureRig, createConfigureRig, remoteDefinition } from '../../test/configureRig.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import { createServer } from './create.ts';
import { removeServer } from './remove.ts';
import { changeServer } from './update.ts';
import { listServers, viewServer } from './view.ts';

/** What a sly editor would write into each field, and anything else that JSON can hold. */
const sly: Record<string, unknown[]> = {
  url: [
    'https://evil.example/mcp',
    'https://USER.example:443/mcp',
    'https://user.example/{{MCP_API_KEY}}',
    null,
  ],
  type: ['sse', 'http', 'websocket', 'stdio', null],
  headers: [{ Authorization: 'Bearer x' }, { 'x-key': '********' }, { 'X-Key': 'mine' }, {}, null],
  obo: [
    { scopes: 'a b' },
    { scopes: ' b  a' },
    { scopes: 'Mail.ReadWrite' },
    null,
    {},
    { scopes: 'a b', 'x-a': 1 },
  ],
  proxy: ['http://evil.example'],
  oauth: [{ client_id: 'x' }, null],
  apiKey: [
    { source: 'user', authorization_type: 'bearer' },
    { source: 'admin', authorization_type: 'bearer', key: 'k' },
    null,
  ],
  customUserVars: [{ A: { title: 'A', description: '' } }],
  title: ['Other', '', null],
  description: ['Other', null],
  iconPath: ['/x.png', null],
};

/** fast-check makes objects without a prototype; what comes over the wire has one. */
const wire = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  arbitrary.map((value) => JSON.parse(JSON.stringify(value)) as T);

const field = fc
  .constantFrom(...Object.keys(sly))
  .chain((key) =>
    fc
      .oneof({ weight: 4, arbitrary: fc.constantFrom(...sly[key]!) }, fc.jsonValue({ maxDepth: 3 }))
      .map((value): [string, unknown] => [key, value]),
  );
const patch = wire(fc.array(field, { maxLength: 5 }).map((fields) => Object.fromEntries(fields)));
const change = fc.record({
  config: patch,
  mode: fc.constantFrom('replace' as const, 'merge' as const),
  /** Whether what is left out of a replacement is filled in as it was. */
  whole: fc.boolean(),
});

const base = { ...remoteDefinition, url: 'https://user.example/mcp', title: 'Mine' };
const locked = { ...base, headers: { 'X-Key': 'pl4nted' }, obo: { scopes: 'a b' } };

const attempt = async (work: () => unknown): Promise<unknown> => {
  try {
    return await work();
  } catch (error) {
    // Refused by name, never by accident.
    expect(error).toMatchObject({ code: expect.stringMatching(/^MCP_/) });
    return null;
  }
};

describe('sequences of requests', () => {
  test('none by an editor without CONFIGURE_OBO changes where an OBO server leads, or with what', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 6 }), async (changes) => {
        const { parts, createPrincipal, grantAccess, requests } = await createConfigureRig();
        const { dbId } = await createServer(parts, createPrincipal('ada', 'TRUSTED'), { config: locked });
        await grantAccess(dbId!, 'eve', 15);
        const eve = createPrincipal('eve', 'MAKER');
        requests.length = 0;
        for (const { config, mode, whole } of changes) {
          const { headers: _hidden, ...visible } = locked;
          const sent = mode === 'replace' && whole ? { ...visible, ...config } : config;
          await attempt(() => changeServer(parts, eve, 'mine', { config: sent, mode }));
        }
        const server = (await parts.stored.find('default', dbId!))!;
        const {
          title: _t,
          description: _d,
          iconPath: _i,
          ...rest
        } = server.definition as Record<string, unknown>;
        const { title: _title, ...expected } = locked;
        expect(rest).toEqual(expected);
        expect(server.securityDecision).toEqual({ decidedBy: 'ada', isIntact: true });
        // And nobody was asked anything on the way.
        expect(requests).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  test('none by one user reads or changes a server of another', async () => {
    const step = fc.record({
      kind: fc.constantFrom('create', 'change', 'remove', 'view', 'list'),
      name: fc.constantFrom('secret', 'secret-2', 'mine', 'SECRET', 'secret ', '../secret'),
      change,
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
        const rig = await createConfigureRig({}, { maxPerUser: 5 });
        const { parts, createPrincipal, store } = rig;
        const bea = createPrincipal('bea', 'TRUSTED');
        const theirs = {
          ...locked,
          title: 'Secret',
          description: 'pl4nted-text',
          url: 'https://pl4nted.example',
        };
        const { dbId } = await createServer(parts, bea, { config: theirs });
        const before = await store.servers.find('default', dbId!);
        const ada = createPrincipal('ada', 'TRUSTED');
        const answers: unknown[] = [];
        for (const one of steps) answers.push(await attempt(() => run(rig, ada, one)));
        expect(JSON.stringify(answers)).not.toContain('pl4nted');
        expect(JSON.stringify(answers)).not.toContain(dbId);
        expect(await store.servers.find('default', dbId!)).toEqual(before);
        expect(viewServer(parts, bea, 'secret')).toMatchObject({
          description: 'pl4nted-text',
          permissions: 15,
        });
        expect(
          (await store.acl.listByServer('default', dbId!)).map(({ principalId }) => principalId),
        ).toEqual(['bea']);
      }),
      { numRuns: 60 },
    );
  });
});

interface Step {
  readonly kind: string;
  readonly name: string;
  readonly change: { readonly config: Record<string, unknown>; readonly mode: 'replace' | 'merge' };
}

function run(
  { parts }: ConfigureRig,
  who: UserPrincipal,
  { kind, name, change: { config, mode } }: Step,
): unknown {
  switch (kind) {
    case 'create':
      return createServer(parts, who, { config: { ...base, ...config, title: 'Secret' } });
    case 'change':
      return changeServer(parts, who, name, { config, mode });
    case 'remove':
      return removeServer(parts, who, name);
    case 'view':
      return viewServer(parts, who, name);
    default:
      return listServers(parts, who);
  }
}
