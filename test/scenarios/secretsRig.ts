import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createScriptedBrowser as createVisitor, createDevIdp } from '@behalf/devidp';
import { createAccounts, createPasswords } from '@behalf/gateway';
import { createKeyring, systemClock as clock, systemRandom as random } from '@behalf/kernel';
import { loadKeys, openPrimary } from '@behalf/stores/open';
import { freePort, scriptedHttpServer, type ScriptedReply, type ScriptedRequest } from '@behalf/testkit';
import { createOutputCollector } from './collectedOutput.ts';
import { startInProcess, type InProcessGateway } from './inProcess.ts';
import { createUsers, type TestUser } from './users.ts';
import { createPlantedSecrets, type PlantedSecrets } from './plantedSecrets.ts';
import { httpDefinition } from './serverYaml.ts';

/** Harmless, and looked for in the same way: who does not find it could not find a secret either. */
export const markers = { title: 'Canary Marmalade', name: 'canary-marmalade' };

export const secretsActors = ['owner', 'editor', 'viewer', 'stranger', 'admin'] as const;
/** Nobody asks as the bystander: administrators try things on them. */
export type SecretsActor = (typeof secretsActors)[number] | 'bystander';

/** A gateway with secrets wherever somebody can put one, and two servers: one is good, one repeats what it is told. */
export async function startSecretsRig() {
  const plantedSecrets = createPlantedSecrets();
  /** What a tool is told and what it answers: for its caller, and for nobody else. */
  const callSecrets = {
    argument: plantedSecrets.create('argument'),
    result: plantedSecrets.create('tool result'),
  };
  const upstream = await startGoodServer(callSecrets.result);
  const parrot = await scriptedHttpServer({ era: 'legacy', tools: [{ name: 'echo' }] });
  const idpPort = await freePort();
  const metricsToken = plantedSecrets.create('METRICS_TOKEN');
  const clientSecret = plantedSecrets.create('OPENID_CLIENT_SECRET');
  const gateway = await startInProcess(
    {
      OPENID_ISSUER: `http://127.0.0.1:${idpPort}`,
      OPENID_CLIENT_ID: 'behalf',
      OPENID_CLIENT_SECRET: clientSecret,
      OPENID_AUDIENCE: 'behalf',
      METRICS_TOKEN: metricsToken,
      OPERATORS_KEY: plantedSecrets.create('environment'),
      RATE_LIMIT_WRITES: '100000',
      RATE_LIMIT_CALLS: '100000',
      MCP_CB_MAX_FAILED_ROUNDS: '1000',
    },
    renderYaml(upstream.url, parrot.url),
  );
  const port = new URL(gateway.url).port;
  const idp = await createDevIdp({
    isProduction: false,
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
  const users = await createActors(gateway, plantedSecrets);
  plantedSecrets.add('sealing key', (await readFile(join(gateway.dataDir, 'creds.key'), 'utf8')).trim());
  const bearer = idp.tokens.mint({ user: 'carol' });
  plantedSecrets.add('bearer token', bearer);
  plantedSecrets.add('signature of the bearer token', bearer.slice(bearer.lastIndexOf('.') + 1));
  return {
    ...{ plantedSecrets, callSecrets, upstream, parrot, gateway, idp, users, bearer, metricsToken },
    output: createOutputCollector(gateway),
    password: await createPasswordAccount(gateway, plantedSecrets.create('password')),
    visitor: createVisitor(),
    /** From now on the second server answers everything with the credential it was given. */
    repeatCredentials: () => parrot.change({ respond: createRepeatingResponder() }),
    async close() {
      await gateway.close();
      await idp.close();
      await upstream.close();
      await parrot.close();
    },
  };
}
export type SecretsRig = Awaited<ReturnType<typeof startSecretsRig>>;

function startGoodServer(result: string) {
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

function renderYaml(goodUrl: string, parrot: string): string {
  const operatorHeaders = { authorization: 'Bearer ${OPERATORS_KEY}' };
  const customUserVars = { KEY: { title: 'Key', description: 'Your key' } };
  return JSON.stringify({
    mcpSettings: { allowedAddresses: [new URL(goodUrl).host, new URL(parrot).host] },
    mcpServers: {
      shared: httpDefinition(goodUrl, { headers: operatorHeaders }),
      personal: httpDefinition(goodUrl, { headers: { 'x-key': '{{KEY}}' }, customUserVars }),
      parrot: httpDefinition(parrot, { headers: { ...operatorHeaders, 'x-key': '{{KEY}}' }, customUserVars }),
      macaw: httpDefinition(parrot, { headers: operatorHeaders }),
    },
    endpoints: { agents: { toolApproval: { ask: ['mcp:*:asked'] } } },
  });
}

async function createActors(
  gateway: InProcessGateway,
  plantedSecrets: PlantedSecrets,
): Promise<Record<SecretsActor, TestUser>> {
  const names = [...secretsActors, 'bystander'] as const;
  const roleFor = (name: SecretsActor) => (name === 'admin' ? 'ADMIN' : 'CREATOR');
  const created = await createUsers(
    gateway,
    names.map((name) => ({ name, role: roleFor(name) })),
  );
  const users = Object.fromEntries(names.map((name, i) => [name, created[i]])) as Record<
    SecretsActor,
    TestUser
  >;
  for (const name of names) {
    const { cookie } = users[name];
    plantedSecrets.add(`cookie of the ${name}`, cookie.slice(cookie.indexOf('=') + 1));
  }
  return users;
}

/** As the operator's command makes one. */
async function createPasswordAccount(gateway: InProcessGateway, password: string) {
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
export const FAILURE_COUNT = 11;

/** Each in turn, with the credential in whatever it says. */
export function createRepeatingResponder(): (request: ScriptedRequest) => ScriptedReply {
  let index = 0;
  return ({ headers, message }) => {
    const echoed = `${String(headers.authorization)} ${String(headers['x-key'])} ${String(headers['x-own'])}`;
    const json = { 'content-type': 'application/json' };
    const challenge = `Bearer error="invalid_token", error_description="${echoed}", scope="${echoed}"`;
    const rpc = { code: -32000, message: echoed, data: { said: echoed } };
    const replies: ScriptedReply[] = [
      { status: 401, headers: { 'www-authenticate': challenge }, body: echoed },
      {
        status: 403,
        headers: { 'www-authenticate': challenge.replace('invalid_token', 'insufficient_scope') },
      },
      { status: 404, body: echoed },
      { status: 400, body: { jsonrpc: '2.0', id: message?.id, error: rpc } },
      { status: 500, body: echoed },
      { status: 302, headers: { location: `http://127.0.0.1:9/${encodeURIComponent(echoed)}` } },
      { status: 200, headers: json, body: { jsonrpc: '2.0', id: message?.id, error: rpc } },
      { status: 200, headers: json, body: `{"jsonrpc":"2.0","said":"${echoed}` },
      { status: 200, headers: { 'content-type': `text/${encodeURIComponent(echoed)}` }, body: echoed },
      { status: 429, headers: { 'retry-after': echoed }, body: echoed },
      'reset',
    ];
    index += 1;
    return replies[index % replies.length]!;
  };
}
