import type { JsonWebKey } from 'node:crypto';
import { type IncomingHttpHeaders, type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createAuthorizationCore } from './authorizationCore.ts';

export type Json = Readonly<Record<string, unknown>>;

/** The endpoints that a test can script or hold. */
export type OAuthEndpoint = 'authorize' | 'token' | 'revoke' | 'register' | 'metadata' | 'jwks';

/** The behavior of the authorization server. All values can change at any time. */
export interface AuthorizationSwitches {
  /** `ask`: shows a page with two buttons. */
  readonly consent: 'approve' | 'deny' | 'ask';
  /** The subject that signs in at the authorization endpoint. */
  readonly user: string;
  /** `keep`: a refresh returns the same refresh token. */
  readonly rotation: 'rotate' | 'keep';
  /** How long after a rotation the previous refresh token is still accepted. 0: reuse revokes the family. */
  readonly graceMs: number;
  /** The response in that time: the same successor again, or an access token only. */
  readonly inGrace: 'successor' | 'access-only';
  /** A refresh revokes earlier access tokens. */
  readonly endsOldAccess: boolean;
  /** The lifetime of access tokens. */
  readonly lifetimeS: number;
  /** `expires_in` of the response. Undefined: the actual value. Null: absent. Otherwise this value. */
  readonly expiresIn: unknown;
  /** A refresh returns no refresh token. The sent one stays valid. */
  readonly omitRefreshToken: boolean;
  readonly omitScope: boolean;
  /** The accepted `aud` of client assertions (RFC 7523). */
  readonly assertionAudience: 'issuer' | 'token_endpoint' | 'any';
  /** Token responses are form-encoded. */
  readonly formEncoded: boolean;
  /** Delays the response of the token endpoint after processing. */
  readonly delayMs: number;
  /** Rotates, then destroys the socket, for this number of requests. */
  readonly dropAnswers: number;
  /**
   * RFC 8707. `record`: sets the audience. `require`: rejects requests without it. `ignore`: tokens are valid for
   * any audience.
   */
  readonly resource: 'record' | 'require' | 'ignore';
  /** RFC 9207: whether the metadata announces `iss`. */
  readonly advertisesIss: boolean;
  /** `iss` of the response. `sent`: the issuer. `none`: absent. Otherwise this value. */
  readonly iss: 'sent' | 'none' | (string & {});
  /** Null: absent from the metadata. */
  readonly pkceMethods: readonly string[] | null;
  /** RFC 7009. `token`: revokes the token. `grant`: revokes the family. `fail`: responds 503. `off`: no endpoint. */
  readonly revocation: 'token' | 'grant' | 'fail' | 'off';
  readonly registration: boolean;
  /** The method for clients that register without requesting one. */
  readonly registeredAuthMethod: string;
  /** Accepts client ID metadata documents: `client_id` may be a URL. */
  readonly clientDocuments: boolean;
  /** The available well-known documents. */
  readonly documents: 'both' | 'oauth' | 'oidc' | 'none';
  /** Overrides metadata fields. Undefined removes a field. */
  readonly metadata: Json;
}

export interface AuthorizationClient {
  readonly clientId: string;
  readonly authMethod: 'none' | 'client_secret_basic' | 'client_secret_post' | 'private_key_jwt';
  readonly secret?: string | undefined;
  /** For `private_key_jwt`. */
  readonly keys?: readonly JsonWebKey[] | undefined;
  /** Absent: any. */
  readonly redirectUris?: readonly string[] | undefined;
}

/** A scripted response. */
export interface ScriptedOAuthResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON. */
  readonly body?: string | Json;
  /** Processes the request first: a refresh token is rotated although the response does not show it. */
  readonly runsFirst?: boolean;
}

/** A recorded request. Tokens, codes and secrets are hashed with `oauthHash`. */
export interface OAuthRequest {
  readonly endpoint: OAuthEndpoint;
  readonly verb: string;
  /** Includes the query without secrets. */
  readonly path: string;
  readonly at: number;
  /** The fields of the form or query. For a registration: the JSON under `document`. */
  readonly form: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
  /** The client authentication that was sent; null if none. */
  readonly clientAuth: { readonly method: string; readonly clientId: string } | null;
  /** The result of a token request: `tokens` or the OAuth error. */
  readonly outcome?: string | undefined;
}

export interface OAuthCounters {
  /** Requests to the token endpoint. */
  readonly tokenHits: number;
  /** Requests with `grant_type=refresh_token`. */
  readonly refreshHits: number;
  /** Token pairs issued for a refresh token. */
  readonly rotations: number;
  /** Uses of a rotated refresh token outside the grace period. */
  readonly reuses: number;
  readonly familyRevocations: number;
  readonly registrations: number;
  readonly revocations: number;
  readonly authorizations: number;
  readonly metadataReads: number;
  /** Fetched client ID metadata documents. */
  readonly documentReads: number;
}

export interface GrantRequest {
  readonly clientId: string;
  readonly user?: string;
  readonly scope?: string;
  readonly resource?: string;
  /** Default true. */
  readonly refreshToken?: boolean;
}

export interface GrantedTokens {
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
  readonly scope: string;
  readonly expiresInS: number;
  readonly familyId: string;
}

/** Data of a valid access token for the resource server. */
export interface AccessTokenInfo {
  readonly user: string;
  readonly clientId: string;
  readonly scope: string;
  /** Null: valid for any audience. */
  readonly resource: string | null;
  readonly familyId: string;
  readonly expiresAt: number;
}

/** Requests held until released. */
export interface OAuthHold {
  /** The number of held requests. */
  readonly waitingCount: number;
  /** Resolves when this many requests are held. */
  arrived(count?: number): Promise<void>;
  /** Releases all held requests and holds no more. */
  release(): void;
}

export interface AuthorizationServerOptions extends Partial<AuthorizationSwitches> {
  readonly clients?: readonly AuthorizationClient[];
  /** Milliseconds since the epoch. Default: the system clock. */
  readonly now?: () => number;
  /** The path of the issuer, such as `/tenant`. */
  readonly issuerPath?: string;
  /** The origin that clients use, if different. */
  readonly publicOrigin?: string;
  /** Serves HTTPS. */
  readonly tls?: { readonly key: string; readonly cert: string };
  /** Fetches client documents and their keys. Default: the platform's `fetch`. */
  readonly fetchDocument?: (url: string) => Promise<unknown>;
}

/** A request, also used by the guarded MCP server. */
export interface OAuthExchange {
  readonly verb: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** The authorization server without a socket. */
export interface AuthorizationCore {
  readonly issuer: string;
  readonly endpoints: {
    readonly authorization: string;
    readonly token: string;
    readonly revocation: string;
    readonly registration: string;
    readonly jwks: string;
  };
  readonly requests: readonly OAuthRequest[];
  /** A snapshot. */
  readonly counters: OAuthCounters;
  readonly switches: AuthorizationSwitches;
  received(endpoint: OAuthEndpoint): readonly OAuthRequest[];
  change(switches: Partial<AuthorizationSwitches>): void;
  /** Resets the counters and recorded requests. */
  reset(): void;
  /** Scripts the responses to the next requests of an endpoint, one each. */
  respondNext(endpoint: OAuthEndpoint, ...responses: readonly ScriptedOAuthResponse[]): void;
  /** `before`: holds before processing. `after`: holds the response after processing. */
  hold(endpoint: OAuthEndpoint, when?: 'before' | 'after'): OAuthHold;
  addClient(client: AuthorizationClient): void;
  /** Rejects the client with invalid_client from now on. */
  forgetClient(clientId: string): void;
  readonly clientIds: readonly string[];
  /** Creates a grant as if a user had consented. */
  grant(request: GrantRequest): GrantedTokens;
  /** Data of a valid access token; undefined if unknown, expired or revoked. */
  inspect(accessToken: string): AccessTokenInfo | undefined;
  /** Whether a refresh token is the current one of a valid family. */
  isCurrent(refreshToken: string): boolean;
  endAccessToken(accessToken: string): void;
  endFamily(familyId: string): void;
  /** All issued tokens, codes and secrets. Tests assert that none appears in any other place. */
  readonly secrets: readonly string[];
  /** Acts as the browser at the authorization endpoint and returns the redirect target. */
  approve(authorizeUrl: string): Promise<URL>;
  /** Handles the request if the path is one of this server. */
  handle(exchange: OAuthExchange, response: ServerResponse): Promise<boolean>;
}

export interface AuthorizationServer extends AuthorizationCore {
  /** The listen address: `http://127.0.0.1:PORT`. */
  readonly origin: string;
  readonly port: number;
  /** For other processes: GET returns `{counters, requests}`, POST accepts `{change?, reset?, grant?}`. */
  readonly controlUrl: string;
  close(): Promise<void>;
}

const CONTROL = '/control';

/** An authorization server over HTTP on a free loopback port that behaves as a test specifies. */
export async function startAuthorizationServer(
  options: AuthorizationServerOptions = {},
): Promise<AuthorizationServer> {
  let listeningAt = '';
  const core = createAuthorizationCore(() => options.publicOrigin ?? listeningAt, options);

  async function handleRequest(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of incoming.setEncoding('utf8')) text += String(chunk);
    const { method: verb = '', url: path = '', headers } = incoming;
    if (path === CONTROL) {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(executeControl(core, verb === 'POST' ? text : '{}')));
    } else if (!(await core.handle({ verb, path, headers, text }, response))) {
      response.writeHead(404).end();
    }
  }

  const listener = (incoming: IncomingMessage, response: ServerResponse) => {
    // The client may close the connection at any time.
    handleRequest(incoming, response).catch(() => response.destroy());
  };
  const http = options.tls ? createSecureServer(options.tls, listener) : createServer(listener);
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo;
  listeningAt = `${options.tls ? 'https' : 'http'}://127.0.0.1:${port}`;

  return Object.defineProperties({} as AuthorizationServer, {
    ...Object.getOwnPropertyDescriptors(core),
    origin: { value: listeningAt },
    port: { value: port },
    controlUrl: { value: `${listeningAt}${CONTROL}` },
    close: {
      value: async () => {
        if (!http.listening) return;
        http.closeAllConnections();
        await new Promise((resolve) => http.close(resolve));
      },
    },
  });
}

interface ControlCommand {
  readonly change?: Partial<AuthorizationSwitches>;
  readonly reset?: boolean;
  readonly grant?: GrantRequest;
}

/** The operations for other processes. */
function executeControl(core: AuthorizationCore, text: string): unknown {
  const { change, reset, grant } = JSON.parse(text) as ControlCommand;
  if (reset === true) core.reset();
  if (change) core.change(change);
  const granted = grant && core.grant(grant);
  return { counters: core.counters, requests: core.requests, granted };
}
