import { NO_PROVIDER } from '@behalf/settings';
import { canCallWithoutToken } from '../credentials/oauthTokens.ts';
import { ReauthNeeded, type SignInReason, signInReasons } from '../credentials/signInRequired.ts';
import type { CredentialSummary } from '../credentials/vault/vault.ts';
import {
  listDeclaredVariables,
  mayRequireOAuth,
  usesClientCredentialsGrant,
  usesGraph,
} from '../definitions/definition.ts';
import { type PreparedTarget, prepareCredential } from '../toolcall/credential.ts';
import { type StepFinding, type StepResult, failed, ok, skipped, warning } from './checklist.ts';
import type { DiagnoseParts, DiagnosisContext } from './diagnose.ts';

/** Checks whether the user has set all variables. Reports names, never values. */
export async function checkVariables(
  { variables }: Pick<DiagnoseParts, 'variables'>,
  { server, principal }: DiagnosisContext,
): Promise<StepFinding> {
  if (listDeclaredVariables(server.settings).length === 0)
    return skipped('The server requires no values from you.');
  const flags = Object.entries(await variables.readSetFlags(server, principal));
  const missing = flags.filter(([, isSet]) => !isSet).map(([name]) => name);
  if (missing.length === 0) return ok('You have entered all required values.');
  return failed('MCP_USER_VARS_MISSING', `Some of your values are missing: ${missing.join(', ')}.`);
}

/** Checks the credential that a call would present, without decrypting it. The value is the user's own credential. */
export async function checkCredential(
  parts: Pick<DiagnoseParts, 'credentialSelector' | 'vault' | 'clock'>,
  { server, principal }: DiagnosisContext,
): Promise<StepResult<CredentialSummary>> {
  if (server.scope === 'app') {
    const presented = usesClientCredentialsGrant(server.settings)
      ? 'a token from the client_credentials grant'
      : 'the credential in its definition';
    return { finding: ok(`All users share one connection: the gateway presents ${presented}.`) };
  }
  if (server.auth === 'obo')
    return { finding: skipped('The server receives an exchanged token, see below.') };
  if (server.auth === 'userVars') return { finding: ok('The server receives the values that you entered.') };
  if (server.auth === 'static')
    return { finding: ok('The server receives the credential in its definition.') };
  if (server.auth === 'none' && !mayRequireOAuth(server)) {
    return { finding: ok('Requests to the server carry no credential.') };
  }
  const key = await parts.credentialSelector.select(server, principal);
  const summary = key && (await parts.vault.find(key));
  if (summary) return { finding: toCredentialFinding(summary, parts.clock.now()), value: summary };
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

/** Whether a call exchanges the user's token, for the server or for Microsoft Graph. */
export function requiresExchange({ server }: DiagnosisContext): boolean {
  return server.scope === 'user' && (server.auth === 'obo' || usesGraph(server.settings));
}

/** Checks whether the address may receive exchanged tokens, and whether the author may decide that. */
export async function checkTrust(
  { oboTargets, oboTrust }: Pick<DiagnoseParts, 'oboTargets' | 'oboTrust'>,
  { server, canSeeAddresses }: DiagnosisContext,
): Promise<StepFinding> {
  const problem = oboTargets.findProblem(server);
  if (problem) {
    const code = problem.code === NO_PROVIDER ? 'OBO_MISCONFIGURED' : 'MCP_OBO_FORBIDDEN';
    const fieldName = problem.path.join('.');
    const message = `Tokens must not be exchanged for this server: ${fieldName} ${problem.message}.`;
    return canSeeAddresses
      ? failed(code, message, `${problem.suggestion}.`)
      : failed(code, 'User tokens must not be sent to this server.', 'Ask the operator.');
  }
  return (await oboTrust.isTrusted(server))
    ? ok('The author of the definition is allowed to receive user tokens.')
    : failed(
        'MCP_OBO_FORBIDDEN',
        'The user who last changed this server is not allowed to receive user tokens.',
      );
}

/** Exchanges the token like a call. The value is the prepared target. */
export async function checkExchange(
  parts: DiagnoseParts,
  { server, inbound }: DiagnosisContext,
  signal: AbortSignal,
): Promise<StepResult<PreparedTarget>> {
  try {
    const options = { bypassesBreaker: true };
    const value = await prepareCredential(parts, server, { ...inbound, signal }, options);
    return { finding: ok('Your gateway sign-in was exchanged for a token for this server.'), value };
  } catch (error) {
    if (error instanceof ReauthNeeded) return { finding: failed(error.detail.code) };
    throw error;
  }
}

const signInReasonTexts: Readonly<Record<SignInReason, string>> = {
  absent: 'You have not signed in at the server.',
  expired_no_refresh: 'Your sign-in at the server has expired, and there is no refresh token.',
  rejected: 'The authorization server no longer accepts your sign-in.',
  lost_rotation: 'Renewing your sign-in was interrupted, and the authorization server no longer accepts it.',
  revoked: 'Your sign-in at the server was revoked.',
  unbound: 'The address, authorization server or client of the server has changed since you signed in.',
  unreadable: 'Your sign-in cannot be read with the key of this gateway.',
  insufficient_scope: 'Your sign-in lacks a required scope.',
  interaction_required: 'The authorization server requires an interactive sign-in.',
  audience_or_policy:
    'The server rejects even a new token: its audience may be wrong, or the server does not allow you access.',
  static_rejected: 'The server rejects the token that you provided.',
};

/** Explains why the user must sign in. The default text covers unknown reasons in stored records. */
export function explainSignInReason(reason: string): string {
  const known = signInReasons.find((candidate) => candidate === reason);
  return known === undefined ? 'Sign in at the server again.' : signInReasonTexts[known];
}
