import { canCallWithoutToken } from '../credentials/oauthTokens.ts';
import type { CredentialSummary } from '../credentials/vault/vault.ts';
import { couldSignIn } from '../registry/couldSignIn.ts';
import { usesOwnGrant } from '../registry/scope.ts';
import { explainReason } from './explainReason.ts';
import { failed, ok, skipped, warning, type Finding } from './checklist.ts';
import type { Case, DiagnoseParts } from './parts.ts';

export interface CredentialLook {
  readonly finding: Finding;
  /** The user's own, where there is one. */
  readonly summary?: CredentialSummary;
}

/** What would be presented to the server in this user's name. Nothing of it is opened. */
export async function lookAtCredential(
  parts: Pick<DiagnoseParts, 'chosen' | 'vault' | 'clock'>,
  { server, principal }: Case,
): Promise<CredentialLook> {
  if (server.scope === 'app') {
    const how = usesOwnGrant(server.settings) ? 'a token of its own' : 'what its definition says';
    return { finding: ok(`All users share one connection: the gateway presents ${how}.`) };
  }
  if (server.auth === 'obo')
    return { finding: skipped('The server is given an exchanged token, see below.') };
  if (server.auth === 'userVars') return { finding: ok('The server is given the values that you entered.') };
  if (server.auth === 'static') return { finding: ok('The server is given what its definition says.') };
  if (server.auth === 'none' && !couldSignIn(server)) {
    return { finding: ok('The server is asked without a credential.') };
  }
  const key = await parts.chosen.select(server, principal);
  const summary = key && (await parts.vault.find(key));
  if (summary) return { finding: judge(summary, parts.clock.now()), summary };
  return {
    finding: canCallWithoutToken(server)
      ? skipped('You have not signed in at the server, and it may be asked without.')
      : failed('MCP_AUTHORIZATION_REQUIRED', explainReason('absent')),
  };
}

function judge(summary: CredentialSummary, now: number): Finding {
  const { status, reason, expiresAt, hasRefreshToken, kind } = summary;
  const left = expiresAt === null ? undefined : expiresAt - now;
  const isOver = left !== undefined && left <= 0;
  const what = kind === 'static' ? 'You brought a token' : 'You are signed in at the server';
  const until = left === undefined || isOver ? '' : `; it is good for ${duration(left)}`;
  if (status === 'rejected' && !isOver) {
    const why = explainReason(reason ?? 'rejected');
    return warning(
      `${why} The last token still works${left === undefined ? '' : ` for ${duration(left)}`}.`,
      ACTION,
    );
  }
  if (status !== 'active')
    return failed('MCP_AUTHORIZATION_REQUIRED', explainReason(reason ?? status), ACTION);
  if (!isOver) return ok(`${what}${until}${hasRefreshToken ? ', and is renewed by itself' : ''}.`);
  if (hasRefreshToken) return ok(`${what}; the token is over and is renewed with the next call.`);
  return failed('MCP_AUTHORIZATION_REQUIRED', explainReason('expired_no_refresh'), ACTION);
}

const ACTION = 'Connect the server again.';

function duration(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return 'less than a minute';
  if (minutes < 120) return minutes === 1 ? 'a minute' : `${minutes} minutes`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} hours` : `${Math.floor(hours / 24)} days`;
}
