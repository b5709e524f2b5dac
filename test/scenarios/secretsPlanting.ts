import { matrix, type Row } from './matrix.ts';
import { everybody, marker, type SecretsScene, type Who } from './secretsScene.ts';
import type { Rightful } from './collected.ts';

/** One request, by somebody or by nobody. */
export interface Asked {
  readonly body?: unknown;
  /** In the place of `body`, as it is. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly rightful?: Rightful;
}

/** Sends requests to the gateway and keeps every answer. */
export type Ask = (who: Who | null, route: string, asked?: Asked) => Promise<Answered>;
export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

export function createAsk({ gateway, people, collected }: SecretsScene): Ask {
  return async (who, route, { body, text, headers = {}, rightful = {} } = {}) => {
    const [method = '', path = ''] = route.split(' ');
    const sent = text ?? (body === undefined ? null : JSON.stringify(body));
    const response = await fetch(gateway.url + path, {
      method,
      redirect: 'manual',
      headers: {
        'content-type': 'application/json',
        'x-behalf-csrf': '1',
        ...(who && { cookie: people[who].cookie }),
        ...headers,
      },
      body: method === 'GET' ? null : sent,
    });
    const kept = await collected.keep(`${route} by ${who ?? 'nobody'}`, response, rightful);
    return { status: response.status, headers: response.headers, body: kept };
  };
}

export interface PlantedServers {
  readonly main: { name: string; id: string };
  readonly spare: { name: string };
  /** Those of the server that repeats what it is told. */
  readonly parrots: readonly string[];
  /** All that the owner may use, by name. */
  readonly names: readonly string[];
  /** The definition of the main one, as its owner writes it. */
  readonly definition: object;
}

/** Puts a secret wherever a definition or a form has a place for one. */
export async function plantServers(scene: SecretsScene, ask: Ask): Promise<PlantedServers> {
  const { planted, upstream, parrot, people } = scene;
  const must = async (status: number, answer: Promise<Answered>) => {
    const { status: got, body } = await answer;
    if (got !== status) throw new Error(`${got}, not ${status}: ${body}`);
    return JSON.parse(body) as Record<string, string>;
  };
  const permissions = { MCP_SERVERS: { USE: true, CREATE: true, SHARE: true } };
  await must(201, ask('admin', 'POST /api/admin/roles', { body: { name: 'CREATOR', permissions } }));

  const create = async (config: object) => {
    const made = await must(201, ask('owner', 'POST /api/mcp/servers', { body: { config } }));
    return { name: made['serverName'] ?? '', id: made['dbId'] ?? '' };
  };
  const definition = {
    type: 'streamable-http',
    url: upstream.url,
    title: marker.title,
    headers: { 'x-own': planted.make('header') },
    apiKey: { source: 'admin', authorization_type: 'basic', key: planted.make('basic key') },
  };
  const main = await create(definition);
  const oauth = {
    client_id: 'us',
    client_secret: planted.make('oauth client secret'),
    authorization_url: new URL('/authorize', upstream.url).href,
    token_url: new URL('/token', upstream.url).href,
  };
  const signIn = await create({ type: 'streamable-http', url: upstream.url, title: 'Signs in', oauth });
  const own = await create({
    type: 'streamable-http',
    url: parrot.url,
    title: 'Parrot',
    headers: { 'x-own': planted.make('header of the parrot') },
    apiKey: { source: 'user', authorization_type: 'bearer' },
  });
  const spare = await create({ ...definition, title: 'Spare' });
  const share = (name: Who, role: string) => ({ type: 'user', id: people[name].id, accessRoleId: role });
  const updated = [share('editor', 'mcpServer_editor'), share('viewer', 'mcpServer_viewer')];
  const sharing = { updated, removed: [], public: false };
  await must(200, ask('owner', `PUT /api/permissions/mcpServer/${main.id}`, { body: sharing }));

  for (const [who, server, name] of [
    ['owner', 'personal', 'KEY'],
    ['viewer', 'personal', 'KEY'],
    ['owner', 'parrot', 'KEY'],
    ['owner', own.name, 'MCP_API_KEY'],
  ] as const) {
    const auth = { [name]: planted.make(`variable of the ${who} at ${server}`) };
    const body = { pluginKey: `mcp_${server}`, action: 'install', auth };
    await must(200, ask(who, 'POST /api/user/plugins', { body }));
  }
  const config = { headers: { 'x-override': planted.make('override') } };
  await must(200, ask('admin', 'PUT /api/admin/mcp/servers/shared', { body: { config } }));
  const names = [main.name, signIn.name, own.name, 'shared', 'personal', 'parrot'];
  return { main, spare, parrots: [own.name, 'parrot', 'macaw'], names, definition };
}

/** Every route, by everybody, as it is meant and with a secret where none belongs. */
export async function askEverything(scene: SecretsScene, ask: Ask, servers: PlantedServers): Promise<void> {
  const stray = scene.planted.make('stray value');
  for (const [route, row] of Object.entries(matrix)) {
    const rightful = rightfulIn(route, scene);
    const isForAll = route.includes(':serverName') && !row.params && !route.startsWith('PATCH ');
    const names = isForAll ? servers.names : [servers.main.name];
    // A sign-out would end them.
    const askers = route === 'POST /api/auth/logout' ? [null] : [...everybody, null];
    // At once: one waits for the server that fails while another is answered.
    await Promise.all(
      askers.flatMap((who) =>
        names.map((name) => {
          const body = bodyOf(route, row, scene, servers, name);
          return ask(who, fill(route, row, scene, servers, name), { body, rightful });
        }),
      ),
    );
    // Mistakes are told alike to all who may ask.
    for (const who of askers.filter((one) => one !== 'editor' && one !== 'viewer')) {
      const path = fill(route, row, scene, servers, servers.main.name);
      for (const asked of mistakes(route, who, stray, scene.upstream.url)) {
        await ask(who, path, { ...asked, rightful });
      }
    }
  }
}

function fill(
  route: string,
  row: Row,
  { people }: SecretsScene,
  { main, spare }: PlantedServers,
  server: string,
): string {
  const filled = route.replace(/:(\w+)/g, (_all, key: string) => {
    const defaults: Record<string, string> = {
      serverName: route.startsWith('DELETE ') ? spare.name : server,
      toolName: 'echo',
      promptName: 'greet',
      id: route.includes('/permissions/') ? main.id : 'unknown',
    };
    const given = row.params?.[key] ?? defaults[key] ?? 'unknown';
    return encodeURIComponent(given === 'BYSTANDER' ? people.bystander.id : given);
  });
  return row.query === undefined ? filled : `${filled}?${row.query}`;
}

/** That of the matrix, but a definition keeps its secrets and names no other address. */
function bodyOf(
  route: string,
  { body }: Row,
  { upstream }: SecretsScene,
  { definition }: PlantedServers,
  server: string,
): unknown {
  if (body === undefined) return undefined;
  if (route === 'PATCH /api/mcp/servers/:serverName') return { config: definition };
  const text = JSON.stringify(body).replace('<upstream>', upstream.url).replace('<server>', server);
  return JSON.parse(text) as unknown;
}

const results = /\/(call|read|get)(\?|$)/;

export function rightfulIn(
  route: string,
  { planted, spoken }: Pick<SecretsScene, 'planted' | 'spoken'>,
): Rightful {
  if (results.test(route)) {
    return { without: (body) => body.replaceAll(spoken.result, '').replaceAll(spoken.argument, '') };
  }
  if (route !== 'POST /api/user/keys') return {};
  return {
    without(body) {
      const { key, ...rest } = JSON.parse(body) as { key: string };
      planted.add(`API key ${planted.names.length}`, key);
      return JSON.stringify(rest);
    },
  };
}

/** A secret in the wrong field, of the wrong type, in a header, in the middle of broken JSON. */
function mistakes(route: string, who: Who | null, secret: string, url: string): Asked[] {
  // In the place of who they are: by nobody, and no more of them than an address may guess.
  const inHeaders: Asked[] = [
    { headers: { authorization: `Bearer ${secret}` } },
    { headers: { authorization: `Basic ${Buffer.from(secret).toString('base64')}` } },
    { headers: { cookie: `behalf_session=${encodeURIComponent(secret)}` } },
    { headers: { traceparent: secret, baggage: secret, 'x-key': secret } },
  ];
  if (who === null) return inHeaders;
  if (route.startsWith('GET ') || route.startsWith('DELETE ')) return [];
  const at = { type: 'streamable-http', url };
  const bodies = [
    [secret],
    { config: secret },
    { config: { type: secret, url: secret, headers: secret, apiKey: secret, oauth: secret, obo: secret } },
    { config: { type: 'streamable-http', url: `http://us:${encodeURIComponent(secret)}@127.0.0.1:9/mcp` } },
    { config: { ...at, headers: { 'x-a': `\${OPERATORS_KEY} ${secret}` } } },
    { config: { ...at, headers: { 'x a': secret, 'x-b': [secret], 'x-c': `${secret}\n` } } },
    { config: { ...at, apiKey: { source: 'admin', authorization_type: secret, key: [secret] } } },
    { config: { ...at, oauth: { client_secret: secret, token_url: secret, scope: [secret] } } },
    { config: { ...at, proxy: `http://us:${encodeURIComponent(secret)}@127.0.0.1:9` } },
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
