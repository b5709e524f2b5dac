import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createScriptedBrowser as createVisitor, createDevIdp } from '@behalf/devidp';
import { createAccounts, createPasswords } from '@behalf/gateway';
import { createKeyring, systemClock as clock, systemRandom as random } from '@behalf/kernel';
import { loadKeys, openPrimary } from '@behalf/stores/open';
import { freePort, scriptedHttpServer, type ScriptedReply, type ScriptedRequest } from '@behalf/testkit';
import { createCollected } from './collected.ts';
import { startInProcess, type InProcessGateway } from './inProcess.ts';
import { createPeople, type Person } from './people.ts';
import { createPlanted, type Planted } from './planted.ts';
import { http } from './serverYaml.ts';

/** Harmless, and looked for in the same way: who does not find it could not find a secret either. */
export const marker = { title: 'Canary Marmalade', name: 'canary-marmalade' };

export const everybody = ['owner', 'editor', 'viewer', 'stranger', 'admin'] as const;
/** Nobody asks as the bystander: administrators try things on them. */
export type Who = (typeof everybody)[number] | 'bystander';

/** A gateway with secrets wherever somebody can put one, and two servers: one is good, one repeats what it is told. */
export async function setSecretsScene() {
  const planted = createPlanted();
  /** What a tool is told and what it answers: for its caller, and for nobody else. */
  const spoken = { argument: planted.make('argument'), result: planted.make('tool result') };
  const upstream = await goodServer(spoken.result);
  const parrot = await scriptedHttpServer({ era: 'legacy', tools: [{ name: 'echo' }] });
  const idpPort = await freePort();
  const metricsToken = planted.make('METRICS_TOKEN');
  const clientSecret = planted.make('OPENID_CLIENT_SECRET');
  const gateway = await startInProcess(
    {
      OPENID_ISSUER: `http://127.0.0.1:${idpPort}`,
      OPENID_CLIENT_ID: 'behalf',
      OPENID_CLIENT_SECRET: clientSecret,
      OPENID_AUDIENCE: 'behalf',
      METRICS_TOKEN: metricsToken,
      OPERATORS_KEY: planted.make('environment'),
      RATE_LIMIT_WRITES: '100000',
      RATE_LIMIT_CALLS: '100000',
      MCP_CB_MAX_FAILED_ROUNDS: '1000',
    },
    yamlOf(upstream.url, parrot.url),
  );
  const port = new URL(gateway.url).port;
  const idp = await createDevIdp({
    production: false,
    port: idpPort,
    users: [{ id: 'carol', email: 'carol@example.com', name: 'Carol' }],
    clients: [
      {
        id: 'behalf',
        secret: clientSecret,
        redirectUris: [`http://localhost:${port}/oauth/openid/callback`],
      },
    ],
    audience: 'behalf',
  });
  const people = await peopleOf(gateway, planted);
  planted.add('sealing key', (await readFile(join(gateway.dataDir, 'creds.key'), 'utf8')).trim());
  const bearer = idp.tokens.mint({ user: 'carol' });
  planted.add('bearer token', bearer);
  planted.add('signature of the bearer token', bearer.slice(bearer.lastIndexOf('.') + 1));
  return {
    ...{ planted, spoken, upstream, parrot, gateway, idp, people, bearer, metricsToken },
    collected: createCollected(gateway),
    password: await accountWithPassword(gateway, planted.make('password')),
    visitor: createVisitor(),
    /** From now on the second server answers everything with the credential it was given. */
    repeatCredentials: () => parrot.change({ respond: repeating() }),
    async close() {
      await gateway.close();
      await idp.close();
      await upstream.close();
      await parrot.close();
    },
  };
}
export type SecretsScene = Awaited<ReturnType<typeof setSecretsScene>>;

function goodServer(result: string) {
  const inputSchema = { type: 'object', properties: { n: { type: 'number' }, text: { type: 'string' } } };
  const handler = () => ({ content: [{ type: 'text', text: result }] });
  return scriptedHttpServer({
    era: 'legacy',
    tools: [
      { name: 'echo', inputSchema, handler },
      { name: 'asked', handler },
    ],
    capabilities: { tools: {}, resources: {}, prompts: {} },
    methods: {
      'resources/read': () => ({ contents: [{ uri: 'test:one', text: result }] }),
      'resources/list': () => ({ resources: [] }),
      'resources/templates/list': () => ({ resourceTemplates: [] }),
      'prompts/list': () => ({ prompts: [] }),
      'prompts/get': () => ({ messages: [{ role: 'user', content: { type: 'text', text: result } }] }),
    },
  });
}

function yamlOf(good: string, parrot: string): string {
  const operators = { authorization: 'Bearer ${OPERATORS_KEY}' };
  const customUserVars = { KEY: { title: 'Key', description: 'Your key' } };
  return JSON.stringify({
    mcpSettings: { allowedAddresses: [new URL(good).host, new URL(parrot).host] },
    mcpServers: {
      shared: http(good, { headers: operators }),
      personal: http(good, { headers: { 'x-key': '{{KEY}}' }, customUserVars }),
      parrot: http(parrot, { headers: { ...operators, 'x-key': '{{KEY}}' }, customUserVars }),
      macaw: http(parrot, { headers: operators }),
    },
    endpoints: { agents: { toolApproval: { ask: ['mcp:*:asked'] } } },
  });
}

async function peopleOf(gateway: InProcessGateway, planted: Planted): Promise<Record<Who, Person>> {
  const names = [...everybody, 'bystander'] as const;
  const roleOf = (name: Who) => (name === 'admin' ? 'ADMIN' : 'CREATOR');
  const made = await createPeople(
    gateway,
    names.map((name) => ({ name, role: roleOf(name) })),
  );
  const people = Object.fromEntries(names.map((name, i) => [name, made[i]])) as Record<Who, Person>;
  for (const name of names) {
    const { cookie } = people[name];
    planted.add(`cookie of the ${name}`, cookie.slice(cookie.indexOf('=') + 1));
  }
  return people;
}

/** As the operator's command makes one. */
async function accountWithPassword(gateway: InProcessGateway, password: string) {
  const keyring = createKeyring(
    loadKeys({ configured: undefined, dataDir: gateway.dataDir, random }),
    random,
  );
  const store = await openPrimary({ dataDir: gateway.dataDir }, { clock, random });
  try {
    const accounts = createAccounts({ ...store, passwords: createPasswords(random), keyring, clock, random });
    const account = { email: 'dora@example.com', password };
    await accounts.create({ ...account, name: 'Dora', role: 'USER' });
    return account;
  } finally {
    await store.close();
  }
}

/** How often to ask for each way of failing. */
export const FAILURES = 11;

/** Each in turn, with the credential in whatever it says. */
export function repeating(): (request: ScriptedRequest) => ScriptedReply {
  let turn = 0;
  return ({ headers, message }) => {
    const said = `${String(headers.authorization)} ${String(headers['x-key'])} ${String(headers['x-own'])}`;
    const json = { 'content-type': 'application/json' };
    const challenge = `Bearer error="invalid_token", error_description="${said}", scope="${said}"`;
    const rpc = { code: -32000, message: said, data: { said } };
    const replies: ScriptedReply[] = [
      { status: 401, headers: { 'www-authenticate': challenge }, body: said },
      {
        status: 403,
        headers: { 'www-authenticate': challenge.replace('invalid_token', 'insufficient_scope') },
      },
      { status: 404, body: said },
      { status: 400, body: { jsonrpc: '2.0', id: message?.id, error: rpc } },
      { status: 500, body: said },
      { status: 302, headers: { location: `http://127.0.0.1:9/${encodeURIComponent(said)}` } },
      { status: 200, headers: json, body: { jsonrpc: '2.0', id: message?.id, error: rpc } },
      { status: 200, headers: json, body: `{"jsonrpc":"2.0","said":"${said}` },
      { status: 200, headers: { 'content-type': `text/${encodeURIComponent(said)}` }, body: said },
      { status: 429, headers: { 'retry-after': said }, body: said },
      'reset',
    ];
    turn += 1;
    return replies[turn % replies.length]!;
  };
}
