import { scopeList } from '@behalf/contracts';
import { APP_HOLDER, credentialHolder } from '../credentials/credentialKeys.ts';
import { getHost } from '../credentials/oauth/addresses.ts';
import type { DiscoveredServer } from '../credentials/oauth/discovery.ts';
import { chooseScopes } from '../credentials/oauth/scopes.ts';
import {
  SignInImpossible,
  type SignInProblem,
  type SignInTarget,
  resolveSignInTarget,
} from '../credentials/oauth/signInTarget.ts';
import type { CredentialSummary } from '../credentials/vault/vault.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { mayRequireOAuth, needsOAuth, usesClientCredentialsGrant } from '../servers/definition.ts';
import type { Challenge } from '../upstream/upstreamError.ts';
import { type StepFinding, failed, ok, skipped, warning } from './checklist.ts';
import type { DiagnoseParts, DiagnosisContext } from './diagnose.ts';

/** Where users sign in, as it was found. */
interface DiscoveredSignIn {
  readonly target: SignInTarget;
  readonly discovered: DiscoveredServer;
}

interface SignInCheck {
  checkMetadata(): Promise<StepFinding>;
  checkAuthorizationServer(): StepFinding;
  /** How we would present ourselves there. Nothing is registered for it. */
  checkClient(): Promise<StepFinding>;
  getDiscoveredSignIn(): DiscoveredSignIn | undefined;
}

/** For whom a token is got at an authorization server; undefined: for nobody, the server does without. */
export function resolveSignInHolder(
  { server, principal }: DiagnosisContext,
  allowsAnonymous: boolean,
): string | undefined {
  if (usesClientCredentialsGrant(server.settings)) return APP_HOLDER;
  if (server.scope !== 'user' || !mayRequireOAuth(server)) return undefined;
  return allowsAnonymous && !needsOAuth(server.settings) ? undefined : credentialHolder(principal);
}

/** What of it speaks of the authorization server, and not of what the server says about itself. */
const authorizationServerProblems: ReadonlySet<SignInProblem> = new Set([
  'no_authorization_server',
  'issuer_mismatch',
  'pkce_missing',
]);

export function createSignInCheck(
  { signIn }: Pick<DiagnoseParts, 'signIn'>,
  { server, principal: { tenant }, canSeeAddresses }: DiagnosisContext,
  holder: string,
  challenge: Challenge | undefined,
): SignInCheck {
  let discoveredSignIn: DiscoveredSignIn | undefined;
  let refusal: StepFinding | undefined;

  return {
    getDiscoveredSignIn: () => discoveredSignIn,
    async checkMetadata() {
      const target = await resolveSignInTarget(signIn.servers, server, { tenant, holder });
      if (!target) return toProblemFinding(new SignInImpossible('not_fillable'));
      try {
        discoveredSignIn = { target, discovered: await signIn.discovery.discover(target, challenge) };
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error;
        if (!isAuthorizationServerProblem(error)) return toProblemFinding(error);
        refusal = toProblemFinding(error);
      }
      return ok('The authorization server is known from the metadata of the server or from its definition.');
    },
    checkAuthorizationServer() {
      if (!discoveredSignIn) return refusal ?? failed('MCP_AUTHORIZATION_UNAVAILABLE');
      const { asMetadata, requiresConfirmation } = discoveredSignIn.discovered;
      const subject = canSeeAddresses ? `${getHost(asMetadata.issuer)} may` : 'The authorization server may';
      const consentText = requiresConfirmation
        ? ' Users must confirm first, because its domain differs from that of the server.'
        : '';
      return ok(`${subject} issue tokens for this server, and it supports PKCE.${consentText}`);
    },
    async checkClient() {
      if (!discoveredSignIn) return failed('MCP_AUTHORIZATION_UNAVAILABLE');
      const { target, discovered } = discoveredSignIn;
      const { asMetadata } = discovered;
      try {
        const client = await signIn.clients.resolveClient(
          { tenant, target, issuer: asMetadata.issuer, asMetadata },
          '',
        );
        if (client.source === 'configured') return ok('The definition names the OAuth client.');
        const { documentUrl, publicDocumentUrl } = signIn.clients.clientUrls(target);
        if (asMetadata.supportsClientDocuments && (documentUrl ?? publicDocumentUrl) !== null) {
          return ok('The authorization server reads the client metadata document of the gateway.');
        }
        if (client.clientId !== '') return ok('The gateway is registered there as a client.');
        if (asMetadata.registrationEndpoint !== null)
          return ok('The gateway registers there with the first sign-in.');
      } catch (error) {
        if (error instanceof SignInImpossible) return toProblemFinding(error);
        throw error;
      }
      return toProblemFinding(new SignInImpossible('no_client'));
    },
  };
}

function isAuthorizationServerProblem(error: GatewayError): boolean {
  if (error instanceof SignInImpossible) return authorizationServerProblems.has(error.problem);
  return error.code === 'MCP_AUTHORIZATION_SERVER_REFUSED' || error.code === 'MCP_DOMAIN_NOT_ALLOWED';
}

function toProblemFinding(error: GatewayError): StepFinding {
  if (error instanceof SignInImpossible) return failed(error.code, error.detail);
  if (error.code === 'MCP_DOMAIN_NOT_ALLOWED') {
    return failed(error.code, 'The address of the authorization server is not allowed.');
  }
  if (error.code === 'UPSTREAM_AUTH_UNAVAILABLE') {
    return failed(error.code, 'The server that publishes the sign-in metadata does not respond.');
  }
  return failed(error.code);
}

/** It says how long a sign-in lasts, and nothing about what it reaches. */
const OFFLINE_SCOPE = 'offline_access';

/** What was granted beside what is asked for. Scopes that the server names are counted: they are its words. */
export function checkScopes(
  { scopes, kind }: Pick<CredentialSummary, 'scopes' | 'kind'>,
  { target, discovered }: DiscoveredSignIn,
): StepFinding {
  const granted = new Set(scopeList(scopes));
  if (granted.size === 0) {
    return skipped(
      kind === 'static' ? 'The scopes of the token are not known.' : 'The granted scopes are not known.',
    );
  }
  const { scope: configured } = target.oauth;
  const { challengedScope: challenged, publishedScopes: published, asMetadata } = discovered;
  const requested = scopeList(
    chooseScopes({ configured, challenged, published, supported: asMetadata.scopes }),
  );
  const missing = requested.filter((scope) => scope !== OFFLINE_SCOPE && !granted.has(scope));
  if (missing.length === 0) return ok('Your sign-in has all required scopes.');
  const missingText =
    configured === undefined
      ? `${missing.length} of ${requested.length} scopes that the server requires`
      : `scopes of the definition: ${missing.join(' ')}`;
  return warning(`Your sign-in lacks ${missingText}.`, 'If calls are rejected, connect the server again.');
}
