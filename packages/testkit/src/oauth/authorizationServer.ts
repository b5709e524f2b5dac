import type { JsonWebKey } from 'node:crypto';
import { type IncomingHttpHeaders, type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createAuthorizationCore } from './authorizationCore.ts';

export type Json = Readonly<Record<string, unknown>>;

/** The endpoints that a script can answer for or hold. */
export type OAuthEndpoint = 'authorize' | 'token' | 'revoke' | 'register' | 'metadata' | 'jwks';

/** How the authorization server behaves. Everything may change while it runs. */
export interface AuthorizationSwitches {
  /** `ask`: a page with two buttons. */
  readonly consent: 'approve' | 'deny' | 'ask';
  /** Who signs in at the authorize endpoint: the subject of what is granted there. */
  readonly user: string;
  /** `keep`: a refresh gives the same refresh token again. */
  readonly rotation: 'rotate' | 'keep';
  /** For so long after a rotation the refresh token before it still answers. 0: its reuse ends the family at once. */
  readonly graceMs: number;
  /** What it answers then: the successor that was already given, or an access token alone. */
  readonly inGrace: 'successor' | 'access-only';
  /** A refresh ends the access tokens before it. */
  readonly endsOldAccess: boolean;
  /** How long access tokens live. */
  readonly lifetimeS: number;
  /** What the answer says of it: undefined the truth, null nothing, else this very value. */
  readonly expiresIn: unknown;
  /** A refresh answers without a refresh token: the one that was sent stays good. */
  readonly omitRefreshToken: boolean;
  readonly omitScope: boolean;
  /** Token answers as application/x-www-form-urlencoded. */
  readonly formEncoded: boolean;
  /** The answer of the token endpoint waits so long after the work is done. */
  readonly delayMs: number;
  /** Rotates, then destroys the socket, so many times more. */
  readonly dropAnswers: number;
  /** RFC 8707: `record` makes it the audience, `require` refuses requests without it, `ignore` issues what is good anywhere. */
  readonly resource: 'record' | 'require' | 'ignore';
  /** RFC 9207: what the metadata says, and what the response does. */
  readonly advertisesIss: boolean;
  /** `sent`: the issuer; another text: that; `none`: nothing. */
  readonly iss: 'sent' | 'none' | (string & {});
  /** Null: the metadata does not say. */
  readonly pkceMethods: readonly string[] | null;
  /** RFC 7009: `token` ends that one, `grant` its whole family, `fail` answers 503, `off` is not offered. */
  readonly revocation: 'token' | 'grant' | 'fail' | 'off';
  readonly registration: boolean;
  /** Given to clients that register without a wish of their own. */
  readonly registeredAuthMethod: string;
  /** Client ID metadata documents: `client_id` may be an address. */
  readonly clientDocuments: boolean;
  /** Which well-known documents there are. */
  readonly documents: 'both' | 'oauth' | 'oidc' | 'none';
  /** Laid over the metadata; an undefined value removes the field. */
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

/** Takes the place of an answer. */
export interface ScriptedOAuthResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON. */
  readonly body?: string | Json;
  /** The work is done first: a refresh token rotates although the answer does not say so. */
  readonly runsFirst?: boolean;
}

/** One request, with hashes in the place of tokens, codes and secrets: see `oauthHash`. */
export interface OAuthRequest {
  readonly endpoint: OAuthEndpoint;
  readonly verb: string;
  /** With its query, secrets left out. */
  readonly path: string;
  readonly at: number;
  /** The fields of the form or of the query; of a registration its document as JSON under `document`. */
  readonly form: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
  /** How the client proved itself, as sent; null where it did not. */
  readonly clientAuth: { readonly method: string; readonly clientId: string } | null;
  /** Of a token request what came of it: `tokens`, or the OAuth error. */
  readonly outcome?: string | undefined;
}

export interface OAuthCounters {
  /** Requests to the token endpoint. */
  readonly tokenHits: number;
  /** Those among them with `grant_type=refresh_token`. */
  readonly refreshHits: number;
  /** Pairs given out for a refresh token. */
  readonly rotations: number;
  /** A superseded refresh token came again, outside of the grace window. */
  readonly reuses: number;
  readonly familyRevocations: number;
  readonly registrations: number;
  readonly revocations: number;
  readonly authorizations: number;
  readonly metadataReads: number;
  /** Client ID metadata documents that were fetched. */
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

/** What the resource server learns about a live access token. */
export interface AccessTokenInfo {
  readonly user: string;
  readonly clientId: string;
  readonly scope: string;
  /** Null: good anywhere. */
  readonly resource: string | null;
  readonly familyId: string;
  readonly expiresAt: number;
}

/** Requests that wait until they are let go. */
export interface OAuthHold {
  /** How many wait. */
  readonly waitingCount: number;
  /** Resolves as soon as so many wait. */
  arrived(count?: number): Promise<void>;
  /** Lets them go, and the gate stands open from then on. */
  release(): void;
}

export interface AuthorizationServerOptions extends Partial<AuthorizationSwitches> {
  readonly clients?: readonly AuthorizationClient[];
  /** Milliseconds since the epoch. Default: the system's clock. */
  readonly now?: () => number;
  /** Path of the issuer, such as `/tenant`. */
  readonly issuerPath?: string;
  /** What clients see as its origin when they reach it by another name. */
  readonly publicOrigin?: string;
  /** Speaks https. */
  readonly tls?: { readonly key: string; readonly cert: string };
  /** How it fetches client documents and their keys. Default: the platform's `fetch`. */
  readonly fetchDocument?: (url: string) => Promise<unknown>;
}

/** A request as the scripted MCP server hands it on as well. */
export interface OAuthExchange {
  readonly verb: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** The authorization server without a socket of its own. */
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
  /** As they are at this moment. */
  readonly counters: OAuthCounters;
  readonly switches: AuthorizationSwitches;
  received(endpoint: OAuthEndpoint): readonly OAuthRequest[];
  change(switches: Partial<AuthorizationSwitches>): void;
  /** Sets the counters to nought and forgets the requests. */
  reset(): void;
  /** The next requests to an endpoint get these answers, one each. */
  respondNext(endpoint: OAuthEndpoint, ...responses: readonly ScriptedOAuthResponse[]): void;
  /** `before`: nothing was done yet. `after`: rotated, and the answer waits. */
  hold(endpoint: OAuthEndpoint, when?: 'before' | 'after'): OAuthHold;
  addClient(client: AuthorizationClient): void;
  /** From now on: invalid_client. */
  forgetClient(clientId: string): void;
  readonly clientIds: readonly string[];
  /** A grant as if a user had just consented. */
  grant(request: GrantRequest): GrantedTokens;
  /** Facts about a live access token; undefined when it is unknown, over or revoked. */
  inspect(accessToken: string): AccessTokenInfo | undefined;
  /** Whether a refresh token is the current one of a living family. */
  isCurrent(refreshToken: string): boolean;
  endAccessToken(accessToken: string): void;
  endFamily(familyId: string): void;
  /** Every token, code and secret that ever came into the world here: none may be found anywhere else. */
  readonly secrets: readonly string[];
  /** Does what a browser does at the authorize endpoint; the address that it is sent back to. */
  approve(authorizeUrl: string): Promise<URL>;
  /** True when the path is one of ours; answers it then. */
  handle(exchange: OAuthExchange, response: ServerResponse): Promise<boolean>;
}

export interface AuthorizationServer extends AuthorizationCore {
  /** Where it really listens: `http://127.0.0.1:PORT`. */
  readonly origin: string;
  readonly port: number;
  /** For other processes: GET gives `{counters, requests}`, POST takes `{change?, reset?, grant?}`. */
  readonly controlUrl: string;
  close(): Promise<void>;
}

const CONTROL = '/control';

/** An authorization server over real HTTP on a free port of 127.0.0.1 that does what a test tells it. */
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
    // A client that hangs up in the middle of its own request is no fault of the script.
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

/** What another process may read and set. */
function executeControl(core: AuthorizationCore, text: string): unknown {
  const { change, reset, grant } = JSON.parse(text) as ControlCommand;
  if (reset === true) core.reset();
  if (change) core.change(change);
  const granted = grant && core.grant(grant);
  return { counters: core.counters, requests: core.requests, granted };
}
