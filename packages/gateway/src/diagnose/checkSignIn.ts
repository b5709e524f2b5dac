import { scopeList } from '@behalf/contracts';
import { APP_HOLDER, credentialHolder } from '../principal/credentialHolder.ts';
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
import { mayRequireOAuth, needsOAuth, usesClientCredentialsGrant } from '../definitions/definition.ts';
import type { Challenge } from '../upstream/upstreamError.ts';
import {
  type Checklist,
  type StepFinding,
  type StepResult,
  failed,
  ok,
  skipped,
  warning,
} from './checklist.ts';
import type { DiagnoseParts, DiagnosisContext } from './diagnose.ts';

type SignInParts = Pick<DiagnoseParts, 'signIn'>;

/** The discovered authorization server. */
interface DiscoveredSignIn {
  readonly target: SignInTarget;
  readonly discovered: DiscoveredServer;
}

/** The response of the server to a request without a credential. */
interface AnonymousResponse {
  readonly challenge?: Challenge | undefined;
  readonly allowsAnonymous: boolean;
}

/** Runs the steps `metadata`, `authorization_server` and `client`. Registers no client. */
export async function checkSignIn(
  parts: SignInParts,
  checklist: Checklist,
  context: DiagnosisContext,
  response: AnonymousResponse,
): Promise<DiscoveredSignIn | undefined> {
  const holder = resolveHolder(context, response);
  if (holder === undefined) {
    checklist.skip(['metadata', 'authorization_server', 'client'], 'This server does not use a sign-in.');
    return undefined;
  }
  const metadata = await checklist.runStep('metadata', () =>
    checkMetadata(parts, context, holder, response.challenge),
  );
  if (metadata.failure !== undefined) {
    checklist.skipAfter('the authorization server is not known.', ['authorization_server', 'client']);
    return undefined;
  }
  const result = metadata.value ?? failed('MCP_AUTHORIZATION_UNAVAILABLE');
  const signIn = 'target' in result ? result : undefined;
  const issuer = await checklist.runStep('authorization_server', () =>
    'target' in result ? toIssuerFinding(context, result) : result,
  );
  if (issuer.failure !== undefined)
    checklist.skipAfter('this authorization server is not allowed.', ['client']);
  else await checklist.runStep('client', () => checkClient(parts, context, signIn));
  return signIn;
}

/** The holder of the token; undefined if the server needs no token from an authorization server. */
function resolveHolder(
  { server, principal }: DiagnosisContext,
  { allowsAnonymous }: AnonymousResponse,
): string | undefined {
  if (usesClientCredentialsGrant(server.settings)) return APP_HOLDER;
  if (server.scope !== 'user' || !mayRequireOAuth(server)) return undefined;
  return allowsAnonymous && !needsOAuth(server.settings) ? undefined : credentialHolder(principal);
}

/** Problems of the authorization server. Other problems concern the metadata of the MCP server. */
const authorizationServerProblems: ReadonlySet<SignInProblem> = new Set([
  'no_authorization_server',
  'issuer_mismatch',
  'pkce_missing',
]);

/** The value is the discovered sign-in, or the finding of the `authorization_server` step. */
async function checkMetadata(
  { signIn }: SignInParts,
  { server, principal: { tenant } }: DiagnosisContext,
  holder: string,
  challenge: Challenge | undefined,
): Promise<StepResult<DiscoveredSignIn | StepFinding>> {
  const target = await resolveSignInTarget(signIn.servers, server, { tenant, holder });
  if (!target) return { finding: toProblemFinding(new SignInImpossible('not_fillable')) };
  const finding = ok(
    'The authorization server is known from the metadata of the server or from its definition.',
  );
  try {
    return { finding, value: { target, discovered: await signIn.discovery.discover(target, challenge) } };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const problem = toProblemFinding(error);
    return isAuthorizationServerProblem(error) ? { finding, value: problem } : { finding: problem };
  }
}

function toIssuerFinding(
  { canSeeAddresses }: DiagnosisContext,
  { discovered }: DiscoveredSignIn,
): StepFinding {
  const { asMetadata, requiresConfirmation } = discovered;
  const subject = canSeeAddresses ? `${getHost(asMetadata.issuer)} may` : 'The authorization server may';
  const consentText = requiresConfirmation
    ? ' Users must confirm first, because its domain differs from that of the server.'
    : '';
  return ok(`${subject} issue tokens for this server, and it supports PKCE.${consentText}`);
}

/** Checks how the gateway would identify itself as a client. */
async function checkClient(
  { signIn }: SignInParts,
  { principal: { tenant } }: DiagnosisContext,
  discoveredSignIn: DiscoveredSignIn | undefined,
): Promise<StepFinding> {
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

/** Requests a refresh token; it grants no access, so a missing one is not reported. */
const OFFLINE_SCOPE = 'offline_access';

/** Compares the granted scopes with the requested ones. Scopes that the server names are counted, not repeated. */
export function checkScopes(
  { scopes, kind }: Pick<CredentialSummary, 'scopes' | 'kind'>,
  { target, discovered }: DiscoveredSignIn,
): StepFinding {
  const granted = new Set(scopeList(scopes));
  if (granted.size === 0) {
    const subject = kind === 'static' ? 'The scopes of the token' : 'The granted scopes';
    return skipped(`${subject} are not known.`);
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
  const action = 'If calls are rejected, connect the server again.';
  return warning(`Your sign-in lacks ${missingText}.`, action);
}
