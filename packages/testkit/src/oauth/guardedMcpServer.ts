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

/** The behavior of the resource server. All values can change at any time. */
export interface GuardSwitches {
  /** `anonymous`: serves requests without a token, and rejects invalid tokens. */
  readonly access: 'required' | 'anonymous';
  /** The challenge of a 401: the metadata URL, only `Bearer`, or none. */
  readonly challenge: 'metadata' | 'bare' | 'none';
  /** The scope in the challenge of a 401. */
  readonly challengeScope: string | null;
  /** Separated by spaces. A token without these scopes receives 403 `insufficient_scope`. */
  readonly requiredScope: string;
  /** Applies to this tool only. Null: to all requests. */
  readonly requiredScopeFor: string | null;
  /** Rejects requests with a valid token: `forbidden` with a plain 403, `unauthorized` with a 401. */
  readonly refuse: 'nothing' | 'forbidden' | 'unauthorized';
  /** Rejects tokens for another resource. A token without a resource is always accepted. */
  readonly checksAudience: boolean;
  /** The location of the protected resource metadata. */
  readonly documents: 'both' | 'path' | 'root' | 'none';
  /** Overrides metadata fields, for example with a wrong `resource` or another authorization server. */
  readonly metadata: Json;
}

export interface GuardedOptions extends ScriptedOptions {
  readonly guard?: Partial<GuardSwitches>;
  /** The issuer of the tokens. Absent: the server is its own authorization server, as in MCP 2025-03-26. */
  readonly authorizationServer?: AuthorizationCore;
  /** Options of the built-in authorization server. */
  readonly ownServerOptions?: AuthorizationServerOptions;
}

/** A request with the status of its token. */
export interface GuardedRequest {
  readonly request: ScriptedRequest;
  readonly bearer: string | null;
  readonly token: AccessTokenInfo | undefined;
  readonly status: 'served' | 401 | 403;
}

export interface GuardedMcpServer extends ScriptedHttpServer {
  readonly authorizationServer: AuthorizationCore;
  /** The RFC 9728 metadata URL of the challenge. */
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

/** A scripted MCP server that requires a token of an authorization server (RFC 6750, RFC 9728). */
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

  /** Undefined: accepted. */
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
    // Scripted responses apply after the token check, never instead of it.
    change: {
      value: ({ respond: next, ...changes }: Parameters<ScriptedHttpServer['change']>[0]) => {
        if (next) respond = next;
        server.change(changes);
      },
    },
  });
}
