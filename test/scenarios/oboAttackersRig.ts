import type { DevUser } from '@behalf/devidp';
import { systemClock, type Clock } from '@behalf/kernel';
import {
  scriptedHttpServer,
  type ScriptedHttpServer,
  type ScriptedOptions,
  type ScriptedRequest,
} from '@behalf/testkit';
import { decodeJwt } from 'jose';
import { callWithToken, type ToolCallResponse } from './oboCaller.ts';
import { startOboRig, type OboRig, type ExchangeMethod } from './oboRig.ts';

/** What their tokens say of them; the roles are made by Ada. */
const attackUsers: readonly DevUser[] = [
  { id: 'ada', email: 'ada@example.test', name: 'Ada Admin', roles: ['ADMIN'] },
  { id: 'uma', email: 'uma@example.test', name: 'Uma User', roles: ['USER'] },
  { id: 'vic', email: 'vic@example.test', name: 'Vic User', roles: ['USER'] },
  { id: 'cara', email: 'cara@example.test', name: 'Cara Creator', roles: ['CREATOR'] },
  { id: 'edd', email: 'edd@example.test', name: 'Edd Editor', roles: ['CREATOR'] },
  { id: 'otto', email: 'otto@example.test', name: 'Otto Author', roles: ['AUTHOR'] },
  { id: 'olga', email: 'olga@example.test', name: 'Olga Author', roles: ['AUTHOR'] },
];
const creatorPermissions = { USE: true, CREATE: true, SHARE: true };
const rolePermissions = {
  CREATOR: creatorPermissions,
  AUTHOR: { ...creatorPermissions, CONFIGURE_OBO: true },
};

/** What the servers here are for, as every way of exchanging understands it. */
export const MAIL_SCOPES = 'api://mail/.default';

/** Well before the end of one. */
const TOKEN_LIFETIME_MS = 30 * 60 * 1000;

export interface StoredServer {
  readonly name: string;
  readonly id: string;
}

export interface RestResponse {
  readonly status: number;
  readonly body: {
    readonly code?: string;
    readonly errors?: readonly { readonly path: string; readonly code: string }[];
    readonly [field: string]: unknown;
  };
}

export interface AttackRig extends OboRig {
  /** An honest server: says whom it saw. */
  readonly goodServer: ScriptedHttpServer;
  /** The attacker's. It answers whatever it is asked, and remembers every request. */
  readonly evilServer: ScriptedHttpServer;
  /** The token that this user's requests bring until they sign in anew. */
  tokenFor(user: string): string;
  send(user: string, method: string, path: string, body?: unknown, type?: string): Promise<RestResponse>;
  /** Changes a server: its whole definition, or what differs. */
  patchServer(user: string, server: string, config: object, mode: 'replace' | 'merge'): Promise<RestResponse>;
  callServer(user: string, server: string): Promise<ToolCallResponse>;
  /** A server of this user that everybody may use. */
  createServer(user: string, config: object): Promise<StoredServer>;
  shareServer(owner: string, server: StoredServer, sharing: object): Promise<void>;
  /** Signs in anew: later requests of this user bring another token. The id of the account. */
  signIn(user: string): Promise<string>;
  /** The definition of a server that asks for tokens, at this address. */
  readonly createOboDefinition: (url: string, more?: object) => Record<string, unknown>;
  /** What this user's tokens say of their roles from now on, until it is said again. */
  setRolesOf(user: string, rolePermissions: readonly string[]): { reset(): void };
  /** Reads a changed configuration. */
  reconfigure(change: (yaml: string) => string): Promise<void>;
  /** What a server was sent since the last `forget`. */
  requestsTo(server: ScriptedHttpServer): readonly ScriptedRequest[];
  /** What was remembered so far is forgotten. */
  forgetRequests(): void;
}

/** A gateway with honest users, an honest server, and everybody who would like to have a token sent elsewhere. */
export async function startAttackRig(
  provider: ExchangeMethod,
  options: { clock?: Clock; variables?: Record<string, string> } = {},
): Promise<AttackRig> {
  const users = attackUsers.map((user) => ({ ...user }));
  const [goodServer, evilServer] = [await startWhoamiServer(), await startWhoamiServer()];
  const allowedAddresses = [goodServer, evilServer].map(({ port }) => `127.0.0.1:${port}`);
  const rig = await startOboRig({ ...options, provider, users, allowedAddresses });

  /** The same one for all requests of a user, so that what is kept for it counts. */
  const tokens = new Map<string, { text: string; expiresAt: number }>();
  const { clock = systemClock } = options;
  function tokenFor(user: string): string {
    const cached = tokens.get(user);
    if (cached && clock.now() < cached.expiresAt) return cached.text;
    const text = rig.mintToken(user);
    tokens.set(user, { text, expiresAt: clock.now() + TOKEN_LIFETIME_MS });
    return text;
  }

  async function send(
    user: string,
    method: string,
    path: string,
    body?: unknown,
    type = 'application/json',
  ): Promise<RestResponse> {
    const response = await fetch(new URL(path, rig.url), {
      method,
      headers: { authorization: `Bearer ${tokenFor(user)}`, 'content-type': type },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? {} : (JSON.parse(text) as RestResponse['body']) };
  }
  const patchServer: AttackRig['patchServer'] = (user, server, config, mode) => {
    const type = mode === 'merge' ? 'application/merge-patch+json' : 'application/json';
    return send(user, 'PATCH', `/api/mcp/servers/${server}`, { config }, type);
  };
  async function expectStatus(
    status: number,
    response: Promise<RestResponse>,
  ): Promise<RestResponse['body']> {
    const { status: actualStatus, body } = await response;
    if (actualStatus !== status) throw new Error(`${actualStatus}, not ${status}: ${JSON.stringify(body)}`);
    return body;
  }
  for (const [name, bits] of Object.entries(rolePermissions)) {
    await expectStatus(
      201,
      send('ada', 'POST', '/api/admin/roles', { name, permissions: { MCP_SERVERS: bits } }),
    );
  }
  const shareServer = async (owner: string, { id }: StoredServer, sharing: object) => {
    const fullSharing = { updated: [], removed: [], public: false, ...sharing };
    await expectStatus(200, send(owner, 'PUT', `/api/permissions/mcpServer/${id}`, fullSharing));
  };
  const requestOffsets = new Map<ScriptedHttpServer, number>();
  return {
    ...rig,
    ...{ goodServer, evilServer, tokenFor, send, patchServer, shareServer },
    callServer: (user, server) => callWithToken(rig, tokenFor(user), server),
    async createServer(user, config) {
      const created = await expectStatus(201, send(user, 'POST', '/api/mcp/servers', { config }));
      const server = { name: String(created['serverName']), id: String(created['dbId']) };
      await shareServer('ada', server, { public: true, publicAccessRoleId: 'mcpServer_viewer' });
      return server;
    },
    async signIn(user) {
      tokens.delete(user);
      return String((await expectStatus(200, send(user, 'GET', '/api/user')))['id']);
    },
    createOboDefinition: (url, more = {}) => ({
      type: 'streamable-http',
      url,
      obo: { scopes: MAIL_SCOPES },
      ...more,
    }),
    setRolesOf(user, claimedRoles) {
      const one = users.find(({ id }) => id === user);
      if (!one) throw new Error(`Nobody is called ${user}`);
      const { roles: previousRoles = [] } = one;
      one.roles = claimedRoles;
      return { reset: () => void (one.roles = previousRoles) };
    },
    reconfigure: (change) => rig.reload(change(rig.startOptions.yaml)),
    requestsTo: (server) => server.requests.slice(requestOffsets.get(server) ?? 0),
    forgetRequests() {
      for (const server of [goodServer, evilServer]) requestOffsets.set(server, server.requests.length);
      rig.idp.requestLog.clear();
      rig.mail.credentials.clear();
    },
    async close() {
      await rig.close();
      await goodServer.close();
      await evilServer.close();
    },
  };
}

/** Answers with whom the token speaks of. */
export function startWhoamiServer(options: Partial<ScriptedOptions> = {}): Promise<ScriptedHttpServer> {
  return scriptedHttpServer({
    era: 'legacy',
    getStream: true,
    tools: [
      {
        name: 'whoami',
        handler(_args, { request }) {
          const subject = readSubject(request.headers.authorization) ?? 'nobody';
          return { content: [{ type: 'text', text: subject }], structuredContent: { subject } };
        },
      },
    ],
    capabilities: { tools: { listChanged: true }, resources: {}, prompts: {} },
    methods: {
      'resources/list': () => ({ resources: [] }),
      'resources/templates/list': () => ({ resourceTemplates: [] }),
      'resources/read': () => ({ contents: [] }),
      'prompts/list': () => ({ prompts: [] }),
      'prompts/get': () => ({ messages: [] }),
    },
    ...options,
  });
}

export function readSubject(authorization: string | undefined): string | undefined {
  const [, token] = /^Bearer (\S+)$/.exec(authorization ?? '') ?? [];
  return token === undefined ? undefined : decodeJwt(token).sub;
}

/** What of these requests looks like a token: in any header, in the address or in the body. */
export function extractTokens(requests: readonly ScriptedRequest[]): string[] {
  return requests.flatMap(({ headers, path, text }) => {
    const fullSharing = `${JSON.stringify(headers)} ${decodeURIComponent(path)} ${text}`;
    const jwtTokens = fullSharing.match(/eyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g) ?? [];
    const bearer = typeof headers.authorization === 'string' ? [headers.authorization] : [];
    return [...jwtTokens, ...bearer];
  });
}
