import {
  type Clock,
  type Fetch,
  type Keyring,
  type Random,
  type SealContext,
  SealError,
} from '@behalf/kernel';
import { decodeJwt } from 'jose';
import * as client from 'openid-client';
import { type Configuration, fetchUserInfo } from 'openid-client';
import { GatewayError } from '../../errors/gatewayError.ts';
import type { Log } from '../../upstream/upstream.ts';
import type { FederatedTokens } from './loginTokens.ts';
import { createOpenIdClient, isRefusal, toLoginFailure } from './openIdClient.ts';
import type { ClaimSource, OpenIdSettings, ProviderMetadataSource, SigningKeySource } from './provider.ts';
import { toReturnPath } from './returnPath.ts';
import { type VerifiedToken, readVerifiedIdentity } from './verifiedIdentity.ts';
import { type Claims, TokenRefused, type VerifiedJwt, verifyJwt } from './verifyJwt.ts';

const FLOW_LIFETIME_MS = 10 * 60 * 1000;

interface StartedLogin {
  /** Where the browser goes. */
  readonly url: string;
  /** For a cookie: what `finish` needs. */
  readonly flow: string;
  readonly expiresAt: number;
}

export interface FinishedLogin {
  readonly verified: VerifiedToken;
  readonly tokens: FederatedTokens;
  readonly returnTo: string;
  /** Whether it was begun with claims: then they are answered. */
  readonly hasClaims: boolean;
  /** For whom the tokens are; absent: for the browser. */
  readonly grant: FlowGrant | undefined;
}

/** Signing in at the provider: authorization code with PKCE, state, nonce and the issuer's name (RFC 9207). */
export interface OpenIdLogin {
  /** `claims`: what the provider wants proven this time (OpenID Connect Core, section 5.5), as JSON. */
  start(
    returnTo: string | undefined,
    options?: { readonly claims?: string | undefined; readonly grant?: FlowGrant | undefined },
  ): Promise<StartedLogin>;
  /** `query` is what the provider sent the browser back with. Rejects with OPENID_FAILED or OPENID_UNAVAILABLE. */
  finish(callback: { readonly flow: string; readonly query: string }): Promise<FinishedLogin>;
  /** Whether a login was begun with claims: of one that cannot be finished nothing else tells. */
  hasRequestedClaims(flow: string): boolean;
}

interface OpenIdLoginParts {
  readonly settings: OpenIdSettings;
  readonly metadata: ProviderMetadataSource;
  readonly keys: SigningKeySource;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly random: Random;
  readonly fetch: Fetch;
  /** Our callback as the provider knows it; the port is known only after the start. */
  readonly redirectUri: () => string;
  readonly log: Log;
}

export function createOpenIdLogin(parts: OpenIdLoginParts): OpenIdLogin {
  const { settings, metadata, keys, keyring, clock, random, fetch, redirectUri, log } = parts;
  const { clientId } = settings;
  if (clientId === null) throw new RangeError('A login needs a client id');
  const flows = createLoginFlows({ keyring, clock, settings });
  const randomSecret = () => Buffer.from(random.bytes(32)).toString('base64url');
  const configuration = async () => createOpenIdClient(await metadata.current(), settings, fetch);

  /** The library leaves the signature to TLS; we do not: what a login says makes accounts and administrators. */
  async function verifyIdToken(idToken: string): Promise<VerifiedJwt> {
    const signed = await verifyJwt(idToken, {
      ...{ keys, clock, issuer: settings.issuer },
      audience: [clientId ?? ''],
    });
    if ('azp' in signed.claims && signed.claims.azp !== clientId) throw new TokenRefused('authorized_party');
    return signed;
  }

  async function exchangeCode(flow: LoginFlow, query: string): Promise<FinishedLogin> {
    const config = await configuration();
    const callback = new URL(flow.redirectUri);
    callback.search = query;
    const response = await client.authorizationCodeGrant(config, callback, {
      expectedState: flow.state,
      expectedNonce: flow.nonce,
      pkceCodeVerifier: flow.verifier,
      idTokenExpected: true,
    });
    const { access_token: accessToken, refresh_token: refreshToken, id_token: idToken = '' } = response;
    if (response.token_type !== 'bearer') throw new TokenRefused('key_bound');
    const { claims: id } = await verifyIdToken(idToken);
    const sources = await readLoginSources(
      { settings, keys, clock, log },
      { client: config, accessToken, id },
    );
    // What is signed wins.
    const claims = { ...sources.userinfo, ...id };
    const verified = readVerifiedIdentity({ kind: 'user', claims, sources, settings, log });
    return {
      verified,
      tokens: {
        ...{ issuer: verified.issuer, subject: verified.subject },
        ...{ accessToken, idToken, refreshToken },
        expiresAt: expiryOf(accessToken, response.expires_in, id.exp),
      },
      returnTo: flow.returnTo,
      hasClaims: flow.hasClaims,
      grant: flow.grant,
    };
  }

  /** A token whose end nobody tells ends with the login's own proof. */
  function expiryOf(accessToken: string, expiresIn: number | undefined, idTokenExp: number): number {
    if (expiresIn !== undefined) return clock.now() + expiresIn * 1_000;
    try {
      return (decodeJwt(accessToken).exp ?? idTokenExp) * 1_000;
    } catch {
      return idTokenExp * 1_000;
    }
  }

  return {
    async start(returnTo, { claims, grant } = {}) {
      const config = await configuration();
      const expiresAt = clock.now() + FLOW_LIFETIME_MS;
      const flow: LoginFlow = {
        ...{ state: randomSecret(), nonce: randomSecret(), verifier: randomSecret() },
        ...{ redirectUri: redirectUri(), returnTo: toReturnPath(returnTo), expiresAt },
        hasClaims: claims !== undefined,
        grant,
      };
      const url = client.buildAuthorizationUrl(config, {
        redirect_uri: flow.redirectUri,
        scope: settings.scope,
        state: flow.state,
        nonce: flow.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(flow.verifier),
        code_challenge_method: 'S256',
        ...(settings.audience !== null && { audience: settings.audience }),
        ...(claims !== undefined && { claims }),
      });
      return { url: url.href, flow: flows.seal(flow), expiresAt };
    },
    async finish({ flow: sealed, query }) {
      const flow = flows.open(sealed);
      if (!flow) {
        log('openid_login_failed', { reason: 'flow' });
        throw new GatewayError('OPENID_FAILED');
      }
      try {
        return await exchangeCode(flow, query);
      } catch (error) {
        const { gatewayError, reason } = toLoginFailure(error);
        log('openid_login_failed', { reason });
        throw gatewayError;
      }
    },
    hasRequestedClaims: (sealed) => flows.open(sealed)?.hasClaims === true,
  };
}

/** What the browser keeps for us while its user is at the provider. */
interface LoginFlow {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly redirectUri: string;
  readonly returnTo: string;
  /** Whether the provider was asked to have more proven than usual. */
  readonly hasClaims: boolean;
  readonly expiresAt: number;
  /** For whom the tokens are; absent: for the browser. */
  readonly grant?: FlowGrant | undefined;
}

/** What a user is about to grant to a client: its tokens are its own, and nobody else exchanges them. */
interface FlowGrant {
  /** The hash of the session that it will be. */
  readonly session: string;
  readonly clientId: string;
}

interface LoginFlows {
  seal(flow: LoginFlow): string;
  /** Null when it is not one of ours, or too old. */
  open(sealed: string): LoginFlow | null;
}

/** Sealed, so that a browser can neither read its proof key nor bring a flow that this gateway did not begin. */
export function createLoginFlows(parts: {
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly settings: Pick<OpenIdSettings, 'issuer' | 'clientId'>;
}): LoginFlows {
  const { keyring, clock, settings } = parts;
  const context: SealContext = {
    tenant: '-',
    principal: '-',
    server: '-',
    kind: 'openid-login',
    field: 'flow',
    binding: [settings.issuer, settings.clientId ?? ''],
  };
  return {
    seal: (flow) => keyring.seal(JSON.stringify(flow), context),
    open(sealed) {
      try {
        const flow = JSON.parse(keyring.open(sealed, context)) as LoginFlow;
        return clock.now() < flow.expiresAt ? flow : null;
      } catch (error) {
        // Not an alarm: anybody can send a cookie.
        if (error instanceof SealError) return null;
        throw error;
      }
    },
  };
}

interface LoginSourceParts {
  readonly settings: OpenIdSettings;
  readonly keys: SigningKeySource;
  readonly clock: Clock;
  readonly log: Log;
}

interface LoginResponse {
  readonly client: Configuration;
  readonly accessToken: string;
  readonly id: VerifiedJwt['claims'];
}

/** All that the provider says of who has just signed in, by where it says it. */
async function readLoginSources(
  parts: LoginSourceParts,
  { client, accessToken, id }: LoginResponse,
): Promise<Record<ClaimSource, Claims>> {
  const userinfo = await fetchUserInfoClaims(parts, client, accessToken, id.sub);
  return { id, userinfo, access: await readAccessToken(parts, accessToken) };
}

/** Some providers keep names and roles for this answer. One that refuses it to our token tells nothing. */
async function fetchUserInfoClaims(
  { log }: LoginSourceParts,
  client: Configuration,
  accessToken: string,
  subject: string,
): Promise<Claims> {
  if (client.serverMetadata().userinfo_endpoint === undefined) return {};
  try {
    return await fetchUserInfo(client, accessToken, subject);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    log('openid_userinfo_refused', {});
    return {};
  }
}

/** It may be opaque, or meant for somebody else: then what stands in it says nothing to us. */
async function readAccessToken(
  { settings, keys, clock }: LoginSourceParts,
  accessToken: string,
): Promise<Claims> {
  const { issuer, adminRole, requiredRole, clientId } = settings;
  if (adminRole?.from !== 'access' && requiredRole?.from !== 'access') return {};
  const audience = [settings.audience, clientId, `api://${clientId ?? ''}`].flatMap((name) => name ?? []);
  try {
    return (await verifyJwt(accessToken, { keys, clock, issuer, audience })).claims;
  } catch (error) {
    if (error instanceof TokenRefused) return {};
    throw error;
  }
}
