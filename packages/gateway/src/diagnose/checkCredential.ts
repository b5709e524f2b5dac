import { canCallWithoutToken } from '../credentials/oauthTokens.ts';
import type { CredentialSummary } from '../credentials/vault/vault.ts';
import { mayRequireOAuth } from '../registry/mayRequireOAuth.ts';
import { usesClientCredentialsGrant } from '../registry/scope.ts';
import { explainSignInReason } from './explainReason.ts';
import { failed, ok, skipped, warning, type StepFinding } from './checklist.ts';
import type { DiagnosisContext, DiagnoseParts } from './parts.ts';

export interface CredentialCheck {
  readonly finding: StepFinding;
  /** The user's own, where there is one. */
  readonly summary?: CredentialSummary;
}

/** What would be presented to the server in this user's name. Nothing of it is opened. */
export async function checkCredential(
  parts: Pick<DiagnoseParts, 'credentialSelector' | 'vault' | 'clock'>,
  { server, principal }: DiagnosisContext,
): Promise<CredentialCheck> {
  if (server.scope === 'app') {
    const presented = usesClientCredentialsGrant(server.settings)
      ? 'a token from the client_credentials grant'
      : 'the credential of its definition';
    return { finding: ok(`All users share one connection: the gateway presents ${presented}.`) };
  }
  if (server.auth === 'obo')
    return { finding: skipped('The server receives an exchanged token, see below.') };
  if (server.auth === 'userVars') return { finding: ok('The server receives the values that you entered.') };
  if (server.auth === 'static')
    return { finding: ok('The server receives the credential of its definition.') };
  if (server.auth === 'none' && !mayRequireOAuth(server)) {
    return { finding: ok('Requests to the server carry no credential.') };
  }
  const key = await parts.credentialSelector.select(server, principal);
  const summary = key && (await parts.vault.find(key));
  if (summary) return { finding: toCredentialFinding(summary, parts.clock.now()), summary };
  return {
    finding: canCallWithoutToken(server)
      ? skipped('You have not signed in at the server. It also accepts requests without a credential.')
      : failed('MCP_AUTHORIZATION_REQUIRED', explainSignInReason('absent')),
  };
}

function toCredentialFinding(summary: CredentialSummary, now: number): StepFinding {
  const { status, reason, expiresAt, hasRefreshToken, kind } = summary;
  const remainingMs = expiresAt === null ? undefined : expiresAt - now;
  const isExpired = remainingMs !== undefined && remainingMs <= 0;
  const credentialText = kind === 'static' ? 'You provided a token' : 'You are signed in at the server';
  const validityText =
    remainingMs === undefined || isExpired ? '' : `; it is valid for ${formatDuration(remainingMs)}`;
  if (status === 'rejected' && !isExpired) {
    const reasonText = explainSignInReason(reason ?? 'rejected');
    return warning(
      `${reasonText} The last token still works${remainingMs === undefined ? '' : ` for ${formatDuration(remainingMs)}`}.`,
      RECONNECT_ACTION,
    );
  }
  if (status !== 'active')
    return failed('MCP_AUTHORIZATION_REQUIRED', explainSignInReason(reason ?? status), RECONNECT_ACTION);
  if (!isExpired)
    return ok(`${credentialText}${validityText}${hasRefreshToken ? ', and is renewed automatically' : ''}.`);
  if (hasRefreshToken)
    return ok(`${credentialText}; the token has expired and is renewed with the next call.`);
  return failed('MCP_AUTHORIZATION_REQUIRED', explainSignInReason('expired_no_refresh'), RECONNECT_ACTION);
}

const RECONNECT_ACTION = 'Connect the server again.';

function formatDuration(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return 'less than a minute';
  if (minutes < 120) return minutes === 1 ? 'a minute' : `${minutes} minutes`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} hours` : `${Math.floor(hours / 24)} days`;
}
