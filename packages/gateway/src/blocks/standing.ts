import type { CredentialChoice, CredentialNeed } from '@behalf/contracts';
import { variablesOf } from '../configure/serverView.ts';
import { selectCredential } from '../credentials/credentialSelector.ts';
import { credentialHolder } from '../credentials/credentialHolder.ts';
import { usesUserToken, usesUserVariables } from '../credentials/credentials.ts';
import { canCallWithoutToken } from '../credentials/oauthTokens.ts';
import type { CredentialSummary } from '../credentials/vault/vault.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { Principal } from '../principal/principal.ts';
import { declaredVariables, usesGraph } from '../registry/scope.ts';
import type { ServerSnapshot, UserServer } from '../registry/server.ts';
import { connectPagePath, OPENID_SIGN_IN_PATH } from '../toolcall/signInRequirement.ts';
import type { StandingParts } from './parts.ts';

type Without<T> = T extends unknown ? Omit<T, 'blocks'> : never;
/** What one server needs of the caller, whichever blocks wait for it. */
export type Need = Without<CredentialNeed>;

/** How it stands with what a caller presents to a server. */
export interface Standing {
  readonly needs: readonly Need[];
  /** Those that can be chosen, in a stable order. */
  readonly choices: readonly CredentialChoice[];
  /** The label of the one that is used; null: none. */
  readonly selected: string | null;
  /** Only where it never had one: whoever had a credential does not go without. */
  readonly mayGoWithout: boolean;
}

/** Reads what is there of the caller's own; opens no token, renews none and asks nobody else. */
export async function standingOf(
  parts: StandingParts,
  server: ServerSnapshot,
  principal: Principal,
  label?: string,
): Promise<Standing> {
  const values = [
    ...(await missingValues(parts, server, principal)),
    ...(await missingSubject(parts, server, principal)),
  ];
  if (server.scope === 'app' || !usesUserToken(server)) {
    // What is named must be what is used, and here nothing of the caller's is.
    if (label !== undefined) throw new GatewayError('MCP_CREDENTIAL_NOT_FOUND');
    return { needs: values, choices: [], selected: null, mayGoWithout: values.length === 0 };
  }
  const own = await ownCredentials(parts, server, principal);
  const living = own.filter(({ status }) => status !== 'revoked');
  const now = parts.clock.now();
  const chosen = choose(living, label, now);
  const needs = [...values, ...signInNeeds(server, { own, living, chosen, label }, now)];
  return {
    needs,
    choices: living.map(asChoice),
    selected: chosen?.label ?? null,
    mayGoWithout: own.length === 0 && canCallWithoutToken(server),
  };
}

async function ownCredentials(
  { vault }: StandingParts,
  { id }: ServerSnapshot,
  principal: Principal,
): Promise<CredentialSummary[]> {
  // A program has nobody who could sign in.
  if (principal.kind !== 'user') return [];
  const all = await vault.list(principal.tenant, credentialHolder(principal), id);
  return all.filter(({ kind }) => kind === 'oauth_code' || kind === 'static');
}

/**
 * The one that is named; else, where there is a default one or only one, the one that a call would use: a token that was brought
 * and is over gives way to a sign-in that works. Several without a default are for their user to choose from.
 */
function choose(
  living: readonly CredentialSummary[],
  label: string | undefined,
  now: number,
): CredentialSummary | undefined {
  if (label !== undefined) {
    const named = living.filter((each) => each.label === label);
    return named.find(({ isDefault }) => isDefault) ?? named.find(isSignIn) ?? named[0];
  }
  if (living.length !== 1 && !living.some(({ isDefault }) => isDefault)) return undefined;
  return selectCredential(living.map(asOwn), now);
}

function isSignIn({ kind }: CredentialSummary): boolean {
  return kind === 'oauth_code';
}

/** What choosing needs of a record: whether there is a refresh token, and not which. */
function asOwn(credential: CredentialSummary) {
  const { hasRefreshToken, expiresAt } = credential;
  return { ...credential, rtHash: hasRefreshToken ? 'there' : null, tokenExpiresAt: expiresAt };
}

interface Candidates {
  readonly own: readonly CredentialSummary[];
  readonly living: readonly CredentialSummary[];
  readonly chosen: CredentialSummary | undefined;
  readonly label: string | undefined;
}

function signInNeeds(server: UserServer, of: Candidates, now: number): Need[] {
  const { own, living, chosen, label } = of;
  const signIn = (reason: string): Need => ({
    kind: 'sign_in',
    ...named(server),
    reason,
    ...(label !== undefined && { label }),
  });
  if (chosen) {
    const reason = whyUnusable(chosen, now);
    return reason === undefined ? [] : [signIn(reason)];
  }
  // One that is named and gone is absent: neither another one nor none takes its place.
  if (label !== undefined) return [signIn('absent')];
  if (living.length > 0) return [{ kind: 'choose', ...named(server), choices: living.map(asChoice) }];
  if (own.length > 0) return [signIn('revoked')];
  return canCallWithoutToken(server) ? [] : [signIn('absent')];
}

/** As far as it can be told without asking anybody. */
function whyUnusable(credential: CredentialSummary, now: number): string | undefined {
  const { status, reason, expiresAt, hasRefreshToken } = credential;
  const isOver = expiresAt !== null && expiresAt <= now;
  if (status === 'active') return isOver && !hasRefreshToken ? 'expired_no_refresh' : undefined;
  // Its access token may live on.
  if (status === 'rejected') return isOver ? (reason ?? 'rejected') : undefined;
  return status;
}

/** Where the caller's own sign-in here is exchanged, and there is none that could be. */
async function missingSubject(
  { subjects }: StandingParts,
  server: ServerSnapshot,
  principal: Principal,
): Promise<Need[]> {
  if (server.scope === 'app' || !(server.auth === 'obo' || usesGraph(server.settings))) return [];
  const reason = await subjects.checkSubject(principal);
  return reason === undefined
    ? []
    : [{ kind: 'sign_in', ...named(server), connectUrl: OPENID_SIGN_IN_PATH, reason }];
}

async function missingValues(
  { variables }: StandingParts,
  server: ServerSnapshot,
  principal: Principal,
): Promise<Need[]> {
  if (server.scope === 'app' || !usesUserVariables(server)) return [];
  const declared = declaredVariables(server.settings);
  const set = principal.kind === 'user' ? await variables.readSetFlags(server, principal) : {};
  const texts = variablesOf(server.settings) ?? {};
  const values = declared
    .filter((name) => set[name] !== true)
    .flatMap((name) => {
      const text = texts[name];
      return text ? [{ name, ...text }] : [];
    });
  return values.length === 0 ? [] : [{ kind: 'values', ...named(server), values }];
}

function named(server: ServerSnapshot): Pick<Need, 'server' | 'title' | 'connectUrl'> {
  return {
    server: server.name,
    title: server.settings.title ?? server.name,
    connectUrl: connectPagePath(server),
  };
}

function asChoice({ label, kind, isDefault }: CredentialSummary): CredentialChoice {
  return { label, kind: kind === 'static' ? 'static' : 'oauth_code', isDefault };
}
