import { accessMatrix, type MatrixRow } from './accessMatrix.ts';
import { secretsActors, markers, type SecretsRig, type SecretsActor } from './secretsRig.ts';
import type { AllowedSecrets } from './collectedOutput.ts';

/** One request, by somebody or by nobody. */
export interface RequestContent {
  readonly body?: unknown;
  /** In the place of `body`, as it is. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly allowedSecrets?: AllowedSecrets;
}

/** Sends requests to the gateway and keeps every answer. */
export type SendRequest = (
  actor: SecretsActor | null,
  route: string,
  content?: RequestContent,
) => Promise<SecretsResponse>;
export interface SecretsResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

export function createRequestSender({ gateway, users, output }: SecretsRig): SendRequest {
  return async (actor, route, { body, text, headers = {}, allowedSecrets = {} } = {}) => {
    const [method = '', path = ''] = route.split(' ');
    const payload = text ?? (body === undefined ? null : JSON.stringify(body));
    const response = await fetch(gateway.url + path, {
      method,
      redirect: 'manual',
      headers: {
        'content-type': 'application/json',
        'x-behalf-csrf': '1',
        ...(actor && { cookie: users[actor].cookie }),
        ...headers,
      },
      body: method === 'GET' ? null : payload,
    });
    const bodyText = await output.collectResponse(
      `${route} by ${actor ?? 'nobody'}`,
      response,
      allowedSecrets,
    );
    return { status: response.status, headers: response.headers, body: bodyText };
  };
}

export interface PlantedServers {
  readonly main: { name: string; id: string };
  readonly spare: { name: string };
  /** Those of the server that repeats what it is told. */
  readonly echoServers: readonly string[];
  /** All that the owner may use, by name. */
  readonly names: readonly string[];
  /** The definition of the main one, as its owner writes it. */
  readonly definition: object;
}

/** Puts a secret wherever a definition or a form has a place for one. */
export async function plantServers(rig: SecretsRig, send: SendRequest): Promise<PlantedServers> {
  const { plantedSecrets, upstream, parrot, users } = rig;
  const expectStatus = async (status: number, response: Promise<SecretsResponse>) => {
    const { status: actualStatus, body } = await response;
    if (actualStatus !== status) throw new Error(`${actualStatus}, not ${status}: ${body}`);
    return JSON.parse(body) as Record<string, string>;
  };
  const permissions = { MCP_SERVERS: { USE: true, CREATE: true, SHARE: true } };
  await expectStatus(201, send('admin', 'POST /api/admin/roles', { body: { name: 'CREATOR', permissions } }));

  const create = async (config: object) => {
    const created = await expectStatus(201, send('owner', 'POST /api/mcp/servers', { body: { config } }));
    return { name: created['serverName'] ?? '', id: created['dbId'] ?? '' };
  };
  const definition = {
    type: 'streamable-http',
    url: upstream.url,
    title: markers.title,
    headers: { 'x-own': plantedSecrets.create('header') },
    apiKey: { source: 'admin', authorization_type: 'basic', key: plantedSecrets.create('basic key') },
  };
  const main = await create(definition);
  const oauth = {
    client_id: 'us',
    client_secret: plantedSecrets.create('oauth client secret'),
    authorization_url: new URL('/authorize', upstream.url).href,
    token_url: new URL('/token', upstream.url).href,
  };
  const signIn = await create({ type: 'streamable-http', url: upstream.url, title: 'Signs in', oauth });
  const userKeyServer = await create({
    type: 'streamable-http',
    url: parrot.url,
    title: 'Parrot',
    headers: { 'x-own': plantedSecrets.create('header of the parrot') },
    apiKey: { source: 'user', authorization_type: 'bearer' },
  });
  const spare = await create({ ...definition, title: 'Spare' });
  const createShare = (name: SecretsActor, role: string) => ({
    type: 'user',
    id: users[name].id,
    accessRoleId: role,
  });
  const updated = [createShare('editor', 'mcpServer_editor'), createShare('viewer', 'mcpServer_viewer')];
  const sharing = { updated, removed: [], public: false };
  await expectStatus(200, send('owner', `PUT /api/permissions/mcpServer/${main.id}`, { body: sharing }));

  for (const [actor, server, name] of [
    ['owner', 'personal', 'KEY'],
    ['viewer', 'personal', 'KEY'],
    ['owner', 'parrot', 'KEY'],
    ['owner', userKeyServer.name, 'MCP_API_KEY'],
  ] as const) {
    const auth = { [name]: plantedSecrets.create(`variable of the ${actor} at ${server}`) };
    const body = { pluginKey: `mcp_${server}`, action: 'install', auth };
    await expectStatus(200, send(actor, 'POST /api/user/plugins', { body }));
  }
  const config = { headers: { 'x-override': plantedSecrets.create('override') } };
  await expectStatus(200, send('admin', 'PUT /api/admin/mcp/servers/shared', { body: { config } }));
  const names = [main.name, signIn.name, userKeyServer.name, 'shared', 'personal', 'parrot'];
  return { main, spare, echoServers: [userKeyServer.name, 'parrot', 'macaw'], names, definition };
}

/** Every route, by everybody, as it is meant and with a secret where none belongs. */
export async function requestEveryRoute(
  rig: SecretsRig,
  send: SendRequest,
  servers: PlantedServers,
): Promise<void> {
  const strayValue = rig.plantedSecrets.create('stray value');
  for (const [route, row] of Object.entries(accessMatrix)) {
    const allowedSecrets = allowedSecretsFor(route, rig);
    const isPerServer = route.includes(':serverName') && !row.params && !route.startsWith('PATCH ');
    const names = isPerServer ? servers.names : [servers.main.name];
    // A sign-out would end them.
    const actors = route === 'POST /api/auth/logout' ? [null] : [...secretsActors, null];
    // At once: one waits for the server that fails while another is answered.
    await Promise.all(
      actors.flatMap((actor) =>
        names.map((name) => {
          const body = createBody(route, row, rig, servers, name);
          return send(actor, fillPath(route, row, rig, servers, name), { body, allowedSecrets });
        }),
      ),
    );
    // Mistakes are told alike to all who may ask.
    for (const actor of actors.filter((actor) => actor !== 'editor' && actor !== 'viewer')) {
      const path = fillPath(route, row, rig, servers, servers.main.name);
      for (const content of createInvalidRequests(route, actor, strayValue, rig.upstream.url)) {
        await send(actor, path, { ...content, allowedSecrets });
      }
    }
  }
}

function fillPath(
  route: string,
  row: MatrixRow,
  { users }: SecretsRig,
  { main, spare }: PlantedServers,
  server: string,
): string {
  const path = route.replace(/:(\w+)/g, (_all, key: string) => {
    const defaults: Record<string, string> = {
      serverName: route.startsWith('DELETE ') ? spare.name : server,
      toolName: 'echo',
      promptName: 'greet',
      id: route.includes('/permissions/') ? main.id : 'unknown',
    };
    const value = row.params?.[key] ?? defaults[key] ?? 'unknown';
    return encodeURIComponent(value === 'BYSTANDER' ? users.bystander.id : value);
  });
  return row.query === undefined ? path : `${path}?${row.query}`;
}

/** That of the matrix, but a definition keeps its secrets and names no other address. */
function createBody(
  route: string,
  { body }: MatrixRow,
  { upstream }: SecretsRig,
  { definition }: PlantedServers,
  server: string,
): unknown {
  if (body === undefined) return undefined;
  if (route === 'PATCH /api/mcp/servers/:serverName') return { config: definition };
  const text = JSON.stringify(body).replace('<upstream>', upstream.url).replace('<server>', server);
  return JSON.parse(text) as unknown;
}

const resultRoutes = /\/(call|read|get)(\?|$)/;

export function allowedSecretsFor(
  route: string,
  { plantedSecrets, callSecrets }: Pick<SecretsRig, 'plantedSecrets' | 'callSecrets'>,
): AllowedSecrets {
  if (resultRoutes.test(route)) {
    return { redact: (body) => body.replaceAll(callSecrets.result, '').replaceAll(callSecrets.argument, '') };
  }
  if (route !== 'POST /api/user/keys') return {};
  return {
    redact(body) {
      const { key, ...rest } = JSON.parse(body) as { key: string };
      plantedSecrets.add(`API key ${plantedSecrets.names.length}`, key);
      return JSON.stringify(rest);
    },
  };
}

/** A secret in the wrong field, of the wrong type, in a header, in the middle of broken JSON. */
function createInvalidRequests(
  route: string,
  actor: SecretsActor | null,
  secret: string,
  url: string,
): RequestContent[] {
  // In the place of who they are: by nobody, and no more of them than an address may guess.
  const headerRequests: RequestContent[] = [
    { headers: { authorization: `Bearer ${secret}` } },
    { headers: { authorization: `Basic ${Buffer.from(secret).toString('base64')}` } },
    { headers: { cookie: `behalf_session=${encodeURIComponent(secret)}` } },
    { headers: { traceparent: secret, baggage: secret, 'x-key': secret } },
  ];
  if (actor === null) return headerRequests;
  if (route.startsWith('GET ') || route.startsWith('DELETE ')) return [];
  const server = { type: 'streamable-http', url };
  const bodies = [
    [secret],
    { config: secret },
    { config: { type: secret, url: secret, headers: secret, apiKey: secret, oauth: secret, obo: secret } },
    { config: { type: 'streamable-http', url: `http://us:${encodeURIComponent(secret)}@127.0.0.1:9/mcp` } },
    { config: { ...server, headers: { 'x-a': `\${OPERATORS_KEY} ${secret}` } } },
    { config: { ...server, headers: { 'x a': secret, 'x-b': [secret], 'x-c': `${secret}\n` } } },
    { config: { ...server, apiKey: { source: 'admin', authorization_type: secret, key: [secret] } } },
    { config: { ...server, oauth: { client_secret: secret, token_url: secret, scope: [secret] } } },
    { config: { ...server, proxy: `http://us:${encodeURIComponent(secret)}@127.0.0.1:9` } },
    { arguments: secret },
    { arguments: { n: secret, text: { secret } } },
    { uri: secret },
    { pluginKey: 'mcp_personal', action: secret, auth: { KEY: secret } },
    { pluginKey: 'mcp_personal', action: 'install', auth: { OTHER: secret } },
    { name: 'x', scopes: [secret], expiresInDays: secret },
    { email: 'dora@example.com', password: secret },
    { email: secret, password: secret },
    { token: secret, email: 'x@example.com', name: 'x', password: secret },
    { updated: secret, removed: [secret], public: secret },
    { approve: secret },
  ];
  return [
    { headers: { 'if-match': secret } },
    ...bodies.map((body) => ({ body })),
    { text: `{"password":"${secret}` },
    { text: secret, headers: { 'content-type': 'text/plain' } },
  ];
}
