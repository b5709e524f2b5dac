import { scriptedHttpServer } from '../mcp/scriptedHttpServer.ts';
import type {
  ScriptedHttpServer,
  ScriptedOptions,
  ScriptedReply,
  ScriptedRequest,
} from '../mcp/scriptedExchange.ts';
import { createAuthorizationCore } from './authorizationCore.ts';
import type {
  AccessTokenInfo,
  AuthorizationCore,
  AuthorizationServerOptions,
  Json,
} from './authorizationServer.ts';

/** How the resource server behaves. Everything may change while it runs. */
export interface GuardSwitches {
  /** Whether anybody may come without a token: `anonymous` servers serve them, and refuse bad tokens. */
  readonly access: 'required' | 'anonymous';
  /** What a 401 says: where the metadata is, just `Bearer`, or nothing at all. */
  readonly challenge: 'metadata' | 'bare' | 'none';
  /** Named in the challenge of a 401. */
  readonly challengeScope: string | null;
  /** Separated by blanks; a token with less gets 403 `insufficient_scope`. */
  readonly requiredScope: string;
  /** Only for this tool. Null: for everything. */
  readonly requiredScopeFor: string | null;
  /** Every request with a good token gets this: a plain 403, or a 401 although the token is good. */
  readonly refuse: 'nothing' | 'forbidden' | 'unauthorized';
  /** A token for another resource is refused; one for none is good anywhere. */
  readonly checksAudience: boolean;
  /** Where the protected resource metadata is. */
  readonly documents: 'both' | 'path' | 'root' | 'none';
  /** Laid over the metadata: a wrong `resource`, somebody else's authorization server. */
  readonly metadata: Json;
}

export interface GuardedOptions extends ScriptedOptions {
  readonly guard?: Partial<GuardSwitches>;
  /** Who speaks for the tokens. Absent: the server is its own authorization server, as in 2025-03-26. */
  readonly authorizationServer?: AuthorizationCore;
  /** Of its own one. */
  readonly ownServerOptions?: AuthorizationServerOptions;
}

/** One request with what its bearer was worth. */
export interface GuardedRequest {
  readonly request: ScriptedRequest;
  readonly bearer: string | null;
  readonly token: AccessTokenInfo | undefined;
  readonly status: 'served' | 401 | 403;
}

export interface GuardedMcpServer extends ScriptedHttpServer {
  readonly authorizationServer: AuthorizationCore;
  /** Of RFC 9728, as the challenge names it. */
  readonly metadataUrl: string;
  readonly guardedRequests: readonly GuardedRequest[];
  guard(switches: Partial<GuardSwitches>): void;
}

const defaults: GuardSwitches = {
  access: 'required',
  challenge: 'metadata',
  challengeScope: null,
  requiredScope: '',
  requiredScopeFor: null,
  refuse: 'nothing',
  checksAudience: true,
  documents: 'both',
  metadata: {},
};

const DOCUMENT = '/.well-known/oauth-protected-resource';

/** A scripted MCP server that wants a bearer of an authorization server (RFC 6750, RFC 9728). */
export async function guardedMcpServer({
  guard: initial = {},
  authorizationServer,
  ownServerOptions,
  ...options
}: GuardedOptions): Promise<GuardedMcpServer> {
  let switches: GuardSwitches = { ...defaults, ...initial };
  let respond = options.respond;
  const guardedRequests: GuardedRequest[] = [];
  let url = '';
  const origin = () => new URL(url).origin;
  const core = authorizationServer ?? createAuthorizationCore(origin, ownServerOptions);

  function metadataReply(path: string): ScriptedReply {
    const { documents, metadata } = switches;
    const isPath = path === `${DOCUMENT}${new URL(url).pathname}`;
    const isServed = isPath ? documents !== 'root' : path === DOCUMENT && documents !== 'path';
    if (documents === 'none' || !isServed) return { status: 404 };
    const body = {
      resource: url,
      authorization_servers: [core.issuer],
      scopes_supported: ['mcp:read', 'mcp:write'],
      bearer_methods_supported: ['header'],
      ...metadata,
    };
    return { status: 200, body };
  }

  function challengeHeader(fields: Readonly<Record<string, string | null>>): Record<string, string> {
    if (switches.challenge === 'none') return {};
    const metadataLocation = switches.challenge === 'metadata' ? metadataUrl() : null;
    const parameters = Object.entries({ ...fields, resource_metadata: metadataLocation })
      .filter(([, value]) => value !== null)
      .map(([name, value]) => `${name}="${value ?? ''}"`);
    return { 'www-authenticate': ['Bearer', parameters.join(', ')].join(' ').trim() };
  }

  function metadataUrl(): string {
    return switches.documents === 'root' ? `${origin()}${DOCUMENT}` : `${origin()}${DOCUMENT}/mcp`;
  }

  function unauthorized(bearer: string | null): ScriptedReply {
    const error = bearer === null ? null : 'invalid_token';
    return { status: 401, headers: challengeHeader({ error, scope: switches.challengeScope }) };
  }

  /** Undefined: let in. */
  function findRefusal(
    request: ScriptedRequest,
    bearer: string | null,
    facts: AccessTokenInfo | undefined,
  ): ScriptedReply | undefined {
    if (bearer === null && switches.access === 'anonymous') return undefined;
    const isForUs = !switches.checksAudience || facts?.resource === null || facts?.resource === url;
    if (!facts || !isForUs || switches.refuse === 'unauthorized') return unauthorized(bearer);
    if (switches.refuse === 'forbidden') return { status: 403 };
    const tool = request.message?.params?.['name'];
    const applies = switches.requiredScopeFor === null || switches.requiredScopeFor === tool;
    const grantedScopes = facts.scope.split(' ');
    const requiredScopes = switches.requiredScope.split(' ').filter(Boolean);
    if (!applies || requiredScopes.every((scope) => grantedScopes.includes(scope))) return undefined;
    return {
      status: 403,
      headers: challengeHeader({ error: 'insufficient_scope', scope: switches.requiredScope }),
    };
  }

  async function decide(request: ScriptedRequest): Promise<ScriptedReply | undefined> {
    const path = request.path.split('?')[0] ?? '';
    if (path.startsWith(DOCUMENT)) return metadataReply(path);
    if (path !== new URL(url).pathname) {
      if (authorizationServer) return { status: 404 };
      return (response) => {
        core.handle(request, response).then(
          (isOurs) => isOurs || response.writeHead(404).end(),
          () => response.destroy(),
        );
      };
    }
    const [, bearer = null] = /^Bearer (.+)$/i.exec(request.headers.authorization ?? '') ?? [];
    const token = bearer === null ? undefined : core.inspect(bearer);
    const reply = findRefusal(request, bearer, token);
    const status = (reply as { status?: 401 | 403 } | undefined)?.status ?? 'served';
    guardedRequests.push({ request, bearer, token, status });
    return reply ?? respond?.(request);
  }

  const server = await scriptedHttpServer({ ...options, respond: decide });
  url = server.url;
  return Object.defineProperties({} as GuardedMcpServer, {
    ...Object.getOwnPropertyDescriptors(server),
    authorizationServer: { value: core },
    metadataUrl: { get: metadataUrl },
    guardedRequests: { value: guardedRequests },
    guard: { value: (changes: Partial<GuardSwitches>) => void (switches = { ...switches, ...changes }) },
    // What a test scripts stands behind the guard, never in its place.
    change: {
      value: ({ respond: next, ...changes }: Parameters<ScriptedHttpServer['change']>[0]) => {
        if (next) respond = next;
        server.change(changes);
      },
    },
  });
}
