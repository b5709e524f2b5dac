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
import { GatewayError } from '../../errors/gatewayError.ts';
import type { Log } from '../../upstream/upstream.ts';
import { generateSecret } from '../hashSecret.ts';
import type { FederatedTokens } from './loginTokens.ts';
import { createOpenIdClient, isRefusal, toLoginFailure } from './openIdClient.ts';
import type { ClaimSource, OpenIdSettings, ProviderMetadataSource, SigningKeySource } from './provider.ts';
import { toReturnPath } from './returnPath.ts';
import { type VerifiedToken, readVerifiedIdentity } from './verifiedIdentity.ts';
import { type Claims, TokenRefused, type VerifiedJwt, verifyJwt } from './verifyJwt.ts';

/**
 * The login at the identity provider: authorization code flow with PKCE (RFC 7636), `state`, `nonce` and the `iss` parameter
 * (RFC 9207).
 *
 * Invariants:
 * - The flow (state, nonce, code verifier, redirect URI) is sealed in a cookie. The browser can neither read it nor create one.
 * - The ID token's signature, issuer, audience and `azp` are verified, although the token arrives over TLS (OpenID Connect Core
 *   3.1.3.7 permits skipping the check): the claims of the ID token create accounts and administrators.
 * - Signed claims take precedence over the userinfo response.
 */

const FLOW_LIFETIME_MS = 10 * 60 * 1000;

interface StartedLogin {
  /** The authorization URL for the browser. */
  readonly url: string;
  /** The sealed flow for the cookie. `finish` requires it. */
  readonly flow: string;
  readonly expiresAt: number;
}

export interface FinishedLogin extends Pick<LoginFlow, 'returnTo' | 'hasClaims' | 'grant'> {
  readonly verified: VerifiedToken;
  readonly tokens: FederatedTokens;
}

export interface OpenIdLogin {
  /** `claims`: the `claims` request parameter (OpenID Connect Core, section 5.5) as JSON. */
  start(
    returnTo: string | undefined,
    options?: { readonly claims?: string | undefined; readonly grant?: LoginFlow['grant'] },
  ): Promise<StartedLogin>;
  /** `query`: the query of the callback request. Rejects with OPENID_FAILED or OPENID_UNAVAILABLE. */
  finish(callback: { readonly flow: string; readonly query: string }): Promise<FinishedLogin>;
  /** Whether the login started with a `claims` parameter. Also works for a login that failed. */
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
  /** The callback URL. A function, because the port is known only after the server started. */
  readonly redirectUri: () => string;
  readonly log: Log;
}

export function createOpenIdLogin(parts: OpenIdLoginParts): OpenIdLogin {
  const { settings, metadata, keys, keyring, clock, random, fetch, redirectUri, log } = parts;
  const { clientId, issuer } = settings;
  if (clientId === null) throw new RangeError('A login needs a client id');
  const flows = createLoginFlows({ keyring, clock, settings });
  const configuration = async () => createOpenIdClient(await metadata.current(), settings, fetch);

  async function verifyIdToken(idToken: string): Promise<VerifiedJwt> {
    const signed = await verifyJwt(idToken, { keys, clock, issuer, audience: [clientId ?? ''] });
    if ('azp' in signed.claims && signed.claims.azp !== clientId) throw new TokenRefused('authorized_party');
    return signed;
  }

  /** The userinfo response: some providers return names and roles only there. Empty if the provider refuses the request. */
  async function readUserInfo(
    config: client.Configuration,
    accessToken: string,
    subject: string,
  ): Promise<Claims> {
    if (config.serverMetadata().userinfo_endpoint === undefined) return {};
    try {
      return await client.fetchUserInfo(config, accessToken, subject);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      log('openid_userinfo_refused', {});
      return {};
    }
  }

  /** The claims of the access token. Empty if the token is opaque or is intended for another audience. */
  async function readAccessToken(accessToken: string): Promise<Claims> {
    const { adminRole, requiredRole } = settings;
    if (adminRole?.from !== 'access' && requiredRole?.from !== 'access') return {};
    const audience = [settings.audience, clientId, `api://${clientId ?? ''}`].flatMap((name) => name ?? []);
    try {
      return (await verifyJwt(accessToken, { keys, clock, issuer, audience })).claims;
    } catch (error) {
      if (error instanceof TokenRefused) return {};
      throw error;
    }
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
    const sources: Record<ClaimSource, Claims> = {
      id,
      userinfo: await readUserInfo(config, accessToken, id.sub),
      access: await readAccessToken(accessToken),
    };
    const claims = { ...sources.userinfo, ...id };
    const verified = readVerifiedIdentity({ kind: 'user', claims, sources, settings, log });
    return {
      verified,
      tokens: {
        ...{ issuer: verified.issuer, subject: verified.subject },
        ...{ accessToken, idToken, refreshToken },
        expiresAt: expiryOf(accessToken, response.expires_in, id.exp),
      },
      ...{ returnTo: flow.returnTo, hasClaims: flow.hasClaims, grant: flow.grant },
    };
  }

  /** An access token without a known expiry is used for the lifetime of the ID token. */
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
        state: generateSecret(random),
        nonce: generateSecret(random),
        verifier: generateSecret(random),
        ...{ redirectUri: redirectUri(), returnTo: toReturnPath(returnTo), expiresAt },
        ...{ hasClaims: claims !== undefined, grant },
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

/** The state of a login while the browser is at the provider. */
interface LoginFlow {
  readonly state: string;
  readonly nonce: string;
  /** The PKCE code verifier. */
  readonly verifier: string;
  readonly redirectUri: string;
  readonly returnTo: string;
  readonly hasClaims: boolean;
  readonly expiresAt: number;
  /**
   * Set if the login is for a grant to an OAuth client instead of a browser session: the hash of the grant's future session.
   * The tokens then belong to that grant alone.
   */
  readonly grant?: { readonly session: string; readonly clientId: string } | undefined;
}

export function createLoginFlows(parts: {
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly settings: Pick<OpenIdSettings, 'issuer' | 'clientId'>;
}) {
  const { keyring, clock, settings } = parts;
  const context: SealContext = {
    ...{ tenant: '-', principal: '-', server: '-', kind: 'openid-login', field: 'flow' },
    binding: [settings.issuer, settings.clientId ?? ''],
  };
  return {
    seal: (flow: LoginFlow) => keyring.seal(JSON.stringify(flow), context),
    /** Null if this deployment did not create the flow, or if it has expired. */
    open(sealed: string): LoginFlow | null {
      try {
        const flow = JSON.parse(keyring.open(sealed, context)) as LoginFlow;
        return clock.now() < flow.expiresAt ? flow : null;
      } catch (error) {
        // Not logged as an attack: any client can send an arbitrary cookie.
        if (error instanceof SealError) return null;
        throw error;
      }
    },
  };
}
