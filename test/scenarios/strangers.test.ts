import { serverContext } from '@behalf/gateway/ports';
import { createKeyring, systemClock as clock, systemRandom as random } from '@behalf/kernel';
import { loadKeys, openPrimary } from '@behalf/stores/open';
import { scriptedHttpServer, type ScriptedHttpServer, type ScriptedTool } from '@behalf/testkit';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { startInProcess, type InProcessGateway } from './inProcess.ts';
import { bodyOf, oboPatches, type OboPatch } from './oboPatches.ts';
import { createPeople, type Person } from './people.ts';
import {
  aimsAtTheirs,
  requestOf,
  requestsFor,
  steps,
  type Step,
  type StrangerRequest,
  type Target,
} from './strangerRequests.ts';

/** The same requests in every run; a failure names them by this and a path. */
const property = { seed: 4, numRuns: 30 };

/** Of the other user's server: what a stranger may never be told. */
const hidden = {
  title: 'Hidden Orchard',
  description: 'a-quiet-description',
  path: '/mcp-behind-the-wall',
  header: 'header-of-the-owner',
  value: 'value-of-the-owner',
};

describe('strangers', () => {
  let upstream: ScriptedHttpServer;
  let gateway: InProcessGateway;
  let people: { admin: Person; owner: Person; stranger: Person; user: Person; editor: Person };

  beforeAll(async () => {
    // Answers with the credential it was shown: a value that somebody replaced would show.
    const handler: ScriptedTool['handler'] = (_args, { request }) => ({
      content: [{ type: 'text', text: String(request.headers.authorization) }],
    });
    upstream = await scriptedHttpServer({ era: 'legacy', tools: [{ name: 'echo', handler }] });
    gateway = await startInProcess(
      { RATE_LIMIT_WRITES: '100000', RATE_LIMIT_CALLS: '100000' },
      JSON.stringify({ mcpSettings: { allowedAddresses: [new URL(upstream.url).host] } }),
    );
    const [admin, owner, stranger, user, editor] = (await createPeople(gateway, [
      { name: 'Admin', role: 'ADMIN' },
      { name: 'Owner', role: 'CREATOR' },
      { name: 'Stranger', role: 'CREATOR' },
      { name: 'User', role: 'USER' },
      { name: 'Editor', role: 'CREATOR' },
    ])) as [Person, Person, Person, Person, Person];
    people = { admin, owner, stranger, user, editor };
    const permissions = { MCP_SERVERS: { USE: true, CREATE: true, SHARE: true, SHARE_PUBLIC: true } };
    await must(201, admin.post('/api/admin/roles', { name: 'CREATOR', permissions }));
  }, 60_000);
  afterAll(async () => {
    await gateway.close();
    await upstream.close();
  });

  async function must(status: number, answer: Promise<Response>): Promise<Record<string, unknown>> {
    const response = await answer;
    const body = (await response.json()) as Record<string, unknown>;
    expect([response.status, body]).toEqual([status, body]);
    return body;
  }

  async function create(author: Person, config: object): Promise<Target> {
    const { serverName, dbId } = await must(201, author.post('/api/mcp/servers', { config }));
    return { name: String(serverName), id: String(dbId) };
  }

  const remove = (author: Person, { name }: Target) => author.send('DELETE', `/api/mcp/servers/${name}`);

  /** Private, with a value of its owner. */
  async function hide(): Promise<Target> {
    const made = await create(people.owner, {
      type: 'streamable-http',
      url: new URL(hidden.path, upstream.url).href,
      title: hidden.title,
      description: hidden.description,
      headers: { 'x-own': hidden.header },
      apiKey: { source: 'user', authorization_type: 'bearer' },
    });
    const auth = { MCP_API_KEY: hidden.value };
    const body = { pluginKey: `mcp_${made.name}`, action: 'install', auth };
    await must(200, people.owner.post('/api/user/plugins', body));
    return made;
  }

  /** All that its owner knows of it. */
  const ownersView = ({ name, id }: Target) =>
    Promise.all([
      must(200, people.owner.get(`/api/mcp/servers/${name}`)),
      must(200, people.owner.get(`/api/mcp/${name}/auth-values`)),
      must(200, people.owner.get(`/api/permissions/mcpServer/${id}`)),
      people.owner.call(name, 'echo'),
    ]);

  async function send(who: Person, { method, path, body, headers = {} }: StrangerRequest) {
    const response = await who.send(method, path, body, { ...headers });
    return { status: response.status, headers: [...response.headers], text: await response.text() };
  }

  test('no sequence of requests reads or changes what is another user’s', async () => {
    const { stranger, owner } = people;
    const run = async (sequence: readonly Step[]) => {
      const theirs = await hide();
      const before = await ownersView(theirs);
      expect(JSON.stringify(before)).toContain(hidden.value);
      const own: Target[] = [];
      try {
        for (const step of sequence) {
          const names = { me: stranger.id, owner: owner.id, upstream: upstream.url };
          const scene = { ...names, theirs, own: own.at(-1) };
          const request = requestOf(step, scene);
          const { status, headers, text } = await send(stranger, request);
          const told = `${JSON.stringify(headers)} ${text}`;
          const leaked = Object.values(hidden).filter((secret) => told.includes(secret));
          const isRight = aimsAtTheirs(step, scene) ? status >= 400 && status < 500 : status < 500;
          expect({ request, leaked, isRight }).toEqual({ request, leaked: [], isRight: true });
          if (status === 201) own.push(named(text));
        }
        expect(await ownersView(theirs)).toEqual(before);
      } finally {
        for (const server of own) await remove(stranger, server);
        await remove(owner, theirs);
      }
    };
    await fc.assert(fc.asyncProperty(steps, run), property);
  }, 120_000);

  test('what is another’s answers on every route as what is not there', async () => {
    const theirs = await hide();
    const nothing = { name: shuffled(theirs.name), id: shuffled(theirs.id) };
    for (const who of [people.stranger, people.user]) {
      const asked = requestsFor(theirs, who.id, people.owner.id);
      const unknown = requestsFor(nothing, who.id, people.owner.id);
      for (const [kind, request] of Object.entries(asked)) {
        const answers = [await send(who, request), await send(who, unknown[kind]!)] as const;
        const [known, none] = [comparable(answers[0], theirs), comparable(answers[1], nothing)];
        expect({ kind, ...known }).toEqual({ kind, ...none });
        expect([kind, known.status >= 400 && known.status < 500]).toEqual([kind, true]);
      }
    }
    await remove(people.owner, theirs);
  });

  test('no sequence of patches by an editor changes where an OBO server leads, or with what', async () => {
    const keyring = createKeyring(
      loadKeys({ configured: undefined, dataDir: gateway.dataDir, random }),
      random,
    );
    const store = await openPrimary({ dataDir: gateway.dataDir }, { clock, random });
    const { admin, editor } = people;
    const visible = {
      type: 'streamable-http',
      url: upstream.url,
      title: 'On behalf',
      obo: { scopes: 'a b' },
    };
    const stored = async (id: string) => {
      const record = (await store.servers.find('default', id))!;
      const definition = JSON.parse(keyring.open(record.configSealed, serverContext(record))) as object;
      return { definition: withoutTexts(definition), by: record.securedBy, hash: record.securedHash };
    };
    const run = async (patches: readonly OboPatch[]) => {
      const server = await create(admin, { ...visible, headers: { 'X-Key': hidden.header } });
      const updated = [{ type: 'user', id: editor.id, accessRoleId: 'mcpServer_editor' }];
      await must(
        200,
        admin.send('PUT', `/api/permissions/mcpServer/${server.id}`, {
          updated,
          removed: [],
          public: false,
        }),
      );
      const seen = async () => withoutTexts(await must(200, admin.get(`/api/mcp/servers/${server.name}`)));
      const before = { stored: await stored(server.id), seen: await seen() };
      try {
        for (const patch of patches) {
          const answer = await fetch(new URL(`/api/mcp/servers/${server.name}`, gateway.url), {
            method: 'PATCH',
            body: bodyOf(patch, visible),
            headers: {
              cookie: editor.cookie,
              'x-behalf-csrf': '1',
              'content-type': `application/${patch.mode === 'merge' ? 'merge-patch+' : ''}json`,
              ...(patch.ifMatch !== undefined && { 'if-match': patch.ifMatch }),
            },
          });
          expect([200, 400, 403, 412]).toContain(answer.status);
        }
        expect({ stored: await stored(server.id), seen: await seen() }).toEqual(before);
      } finally {
        await remove(admin, server);
      }
    };
    try {
      await fc.assert(fc.asyncProperty(oboPatches, run), property);
    } finally {
      await store.close();
    }
  }, 120_000);
});

function named(text: string): Target {
  const { serverName, dbId } = JSON.parse(text) as { serverName: string; dbId: string };
  return { name: serverName, id: dbId };
}

/** As long, of the same characters, and nobody's. */
function shuffled(text: string): string {
  return Array.from(text).reverse().join('');
}

/** An answer without what is different each time, and without the name that was asked for. */
function comparable(
  answer: { status: number; headers: [string, string][]; text: string },
  { name, id }: Target,
) {
  const headers = answer.headers.filter(([key]) => key !== 'date');
  const body = answer.text
    .replaceAll(name, '<name>')
    .replaceAll(id, '<id>')
    .replace(/incident[:\w-]+/g, '');
  return { status: answer.status, headers, body };
}

/** What an editor may change, and what tells that they did. */
const texts = new Set(['title', 'description', 'iconPath', 'version', 'updatedAt']);

function withoutTexts(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([key]) => !texts.has(key)));
}
