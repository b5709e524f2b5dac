import { toServerSealContext } from '@behalf/gateway/ports';
import { createKeyring, systemClock as clock, systemRandom as random } from '@behalf/kernel';
import { loadKeys, openPrimary } from '@behalf/stores/open';
import { scriptedHttpServer, type ScriptedHttpServer, type ScriptedTool } from '@behalf/testkit';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { startInProcess, type InProcessGateway } from './inProcess.ts';
import { renderPatchBody, oboPatches, type OboPatch } from './oboPatches.ts';
import { createUsers, type TestUser } from './users.ts';
import {
  targetsOtherUser,
  toRequest,
  createRequestsFor,
  requestSteps,
  type RequestStep,
  type CrossUserRequest,
  type TargetServer,
} from './crossUserRequests.ts';

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
  let users: { admin: TestUser; owner: TestUser; unrelatedUser: TestUser; user: TestUser; editor: TestUser };

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
    const [admin, owner, unrelatedUser, user, editor] = (await createUsers(gateway, [
      { name: 'Admin', role: 'ADMIN' },
      { name: 'Owner', role: 'CREATOR' },
      { name: 'Stranger', role: 'CREATOR' },
      { name: 'User', role: 'USER' },
      { name: 'Editor', role: 'CREATOR' },
    ])) as [TestUser, TestUser, TestUser, TestUser, TestUser];
    users = { admin, owner, unrelatedUser, user, editor };
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

  async function create(author: TestUser, config: object): Promise<TargetServer> {
    const { serverName, dbId } = await must(201, author.post('/api/mcp/servers', { config }));
    return { name: String(serverName), id: String(dbId) };
  }

  const remove = (author: TestUser, { name }: TargetServer) =>
    author.send('DELETE', `/api/mcp/servers/${name}`);

  /** Private, with a value of its owner. */
  async function hide(): Promise<TargetServer> {
    const made = await create(users.owner, {
      type: 'streamable-http',
      url: new URL(hidden.path, upstream.url).href,
      title: hidden.title,
      description: hidden.description,
      headers: { 'x-own': hidden.header },
      apiKey: { source: 'user', authorization_type: 'bearer' },
    });
    const auth = { MCP_API_KEY: hidden.value };
    const body = { pluginKey: `mcp_${made.name}`, action: 'install', auth };
    await must(200, users.owner.post('/api/user/plugins', body));
    return made;
  }

  /** All that its owner knows of it. */
  const ownersView = ({ name, id }: TargetServer) =>
    Promise.all([
      must(200, users.owner.get(`/api/mcp/servers/${name}`)),
      must(200, users.owner.get(`/api/mcp/${name}/auth-values`)),
      must(200, users.owner.get(`/api/permissions/mcpServer/${id}`)),
      users.owner.call(name, 'echo'),
    ]);

  async function send(who: TestUser, { method, path, body, headers = {} }: CrossUserRequest) {
    const response = await who.send(method, path, body, { ...headers });
    return { status: response.status, headers: [...response.headers], text: await response.text() };
  }

  test('no sequence of requests reads or changes what is another user’s', async () => {
    const { unrelatedUser, owner } = users;
    const run = async (sequence: readonly RequestStep[]) => {
      const otherServer = await hide();
      const before = await ownersView(otherServer);
      expect(JSON.stringify(before)).toContain(hidden.value);
      const own: TargetServer[] = [];
      try {
        for (const step of sequence) {
          const names = { userId: unrelatedUser.id, ownerId: owner.id, upstreamUrl: upstream.url };
          const rig = { ...names, otherServer, ownServer: own.at(-1) };
          const request = toRequest(step, rig);
          const { status, headers, text } = await send(unrelatedUser, request);
          const output = `${JSON.stringify(headers)} ${text}`;
          const leaked = Object.values(hidden).filter((secret) => output.includes(secret));
          const isRight = targetsOtherUser(step, rig) ? status >= 400 && status < 500 : status < 500;
          expect({ request, leaked, isRight }).toEqual({ request, leaked: [], isRight: true });
          if (status === 201) own.push(named(text));
        }
        expect(await ownersView(otherServer)).toEqual(before);
      } finally {
        for (const server of own) await remove(unrelatedUser, server);
        await remove(owner, otherServer);
      }
    };
    await fc.assert(fc.asyncProperty(requestSteps, run), property);
  }, 120_000);

  test('what is another’s answers on every route as what is not there', async () => {
    const theirs = await hide();
    const nothing = { name: shuffled(theirs.name), id: shuffled(theirs.id) };
    for (const who of [users.unrelatedUser, users.user]) {
      const requests = createRequestsFor(theirs, who.id, users.owner.id);
      const unknown = createRequestsFor(nothing, who.id, users.owner.id);
      for (const [kind, request] of Object.entries(requests)) {
        const answers = [await send(who, request), await send(who, unknown[kind]!)] as const;
        const [known, none] = [comparable(answers[0], theirs), comparable(answers[1], nothing)];
        expect({ kind, ...known }).toEqual({ kind, ...none });
        expect([kind, known.status >= 400 && known.status < 500]).toEqual([kind, true]);
      }
    }
    await remove(users.owner, theirs);
  });

  test('no sequence of patches by an editor changes where an OBO server leads, or with what', async () => {
    const keyring = createKeyring(
      loadKeys({ configured: undefined, dataDir: gateway.dataDir, random }),
      random,
    );
    const store = await openPrimary({ dataDir: gateway.dataDir }, { clock, random });
    const { admin, editor } = users;
    const visible = {
      type: 'streamable-http',
      url: upstream.url,
      title: 'On behalf',
      obo: { scopes: 'a b' },
    };
    const stored = async (id: string) => {
      const record = (await store.servers.find('default', id))!;
      const definition = JSON.parse(keyring.open(record.configSealed, toServerSealContext(record))) as object;
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
            body: renderPatchBody(patch, visible),
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

function named(text: string): TargetServer {
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
  { name, id }: TargetServer,
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
