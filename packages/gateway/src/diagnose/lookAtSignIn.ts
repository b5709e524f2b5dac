import { APP_HOLDER, credentialHolder } from '../credentials/credentialHolder.ts';
import type { DiscoveredServer } from '../credentials/oauth/discovery/discovery.ts';
import { hostOf } from '../credentials/oauth/safeUrl.ts';
import { SignInImpossible, type SignInProblem } from '../credentials/oauth/signInProblem.ts';
import { resolveSignInTarget } from '../credentials/oauth/signInServers.ts';
import type { SignInTarget } from '../credentials/oauth/signInTarget.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { couldSignIn } from '../registry/couldSignIn.ts';
import { needsOAuth, usesOwnGrant } from '../registry/scope.ts';
import type { Challenge } from '../upstream/upstreamError.ts';
import { failed, ok, type Finding } from './checklist.ts';
import type { Case, DiagnoseParts } from './parts.ts';

/** Where users sign in, as it was found. */
export interface FoundSignIn {
  readonly target: SignInTarget;
  readonly discovered: DiscoveredServer;
}

export interface SignInLook {
  metadata(): Promise<Finding>;
  authorizationServer(): Finding;
  /** How we would present ourselves there. Nothing is registered for it. */
  client(): Promise<Finding>;
  found(): FoundSignIn | undefined;
}

/** For whom a token is got at an authorization server; undefined: for nobody, the server does without. */
export function signInHolder({ server, principal }: Case, isOpen: boolean): string | undefined {
  if (usesOwnGrant(server.settings)) return APP_HOLDER;
  if (server.scope !== 'user' || !couldSignIn(server)) return undefined;
  return isOpen && !needsOAuth(server.settings) ? undefined : credentialHolder(principal);
}

/** What of it speaks of the authorization server, and not of what the server says about itself. */
const aboutAuthorizationServer: ReadonlySet<SignInProblem> = new Set([
  'no_authorization_server',
  'issuer_mismatch',
  'pkce_missing',
]);

export function createSignInLook(
  { signIn }: Pick<DiagnoseParts, 'signIn'>,
  { server, principal: { tenant }, seesAddresses }: Case,
  holder: string,
  challenge: Challenge | undefined,
): SignInLook {
  let found: FoundSignIn | undefined;
  let refused: Finding | undefined;

  return {
    found: () => found,
    async metadata() {
      const target = await resolveSignInTarget(signIn.servers, server, { tenant, holder });
      if (!target) return unusable(new SignInImpossible('not_fillable'));
      try {
        found = { target, discovered: await signIn.discovery.discover(target, challenge) };
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error;
        if (!speaksOfAuthorizationServer(error)) return unusable(error);
        refused = unusable(error);
      }
      return ok('The server says where its users sign in, or its definition does.');
    },
    authorizationServer() {
      if (!found) return refused ?? failed('MCP_AUTHORIZATION_UNAVAILABLE');
      const { as, requiresConfirmation: mustAsk } = found.discovered;
      const where = seesAddresses ? `${hostOf(as.issuer)} may` : 'The authorization server may';
      const consent = mustAsk ? ' Users are asked first: it is of another domain than the server.' : '';
      return ok(`${where} give tokens for this server, and it protects the sign-in (PKCE).${consent}`);
    },
    async client() {
      if (!found) return failed('MCP_AUTHORIZATION_UNAVAILABLE');
      const { target, discovered } = found;
      const { as } = discovered;
      try {
        const known = await signIn.clients.resolveClient({ tenant, target, issuer: as.issuer, as }, '');
        if (known.source === 'configured') return ok('The definition names the OAuth client.');
        const { documentUrl: document, publicDocumentUrl: publicDocument } =
          signIn.clients.clientUrls(target);
        if (as.supportsClientDocuments && (document ?? publicDocument) !== null) {
          return ok('It reads the document that we publish about ourselves.');
        }
        if (known.clientId !== '') return ok('We are registered there as a client.');
        if (as.registrationEndpoint !== null) return ok('We are registered there with the first sign-in.');
      } catch (error) {
        if (error instanceof SignInImpossible) return unusable(error);
        throw error;
      }
      return unusable(new SignInImpossible('no_client'));
    },
  };
}

function speaksOfAuthorizationServer(error: GatewayError): boolean {
  if (error instanceof SignInImpossible) return aboutAuthorizationServer.has(error.problem);
  return error.code === 'MCP_AUTHORIZATION_SERVER_REFUSED' || error.code === 'MCP_DOMAIN_NOT_ALLOWED';
}

function unusable(error: GatewayError): Finding {
  if (error instanceof SignInImpossible) return failed(error.code, error.detail);
  if (error.code === 'MCP_DOMAIN_NOT_ALLOWED') {
    return failed(error.code, 'The address of the authorization server may not be called.');
  }
  if (error.code === 'UPSTREAM_AUTH_UNAVAILABLE') {
    return failed(error.code, 'Who says where users sign in does not answer.');
  }
  return failed(error.code);
}
