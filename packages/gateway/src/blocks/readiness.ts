import type { CredentialChoice, CredentialGroup, CredentialNeed } from '@behalf/contracts';
import { readLiteralText } from '@behalf/settings';
import { credentialHolder } from '../credentials/credentialKeys.ts';
import { selectCredential } from '../credentials/credentialSelector.ts';
import { usesUserToken, usesUserVariables } from '../credentials/credentials.ts';
import { canonicalizeUrl } from '../credentials/oauth/addresses.ts';
import { canCallWithoutToken } from '../credentials/oauthTokens.ts';
import type { CredentialSummary } from '../credentials/vault/vault.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { Principal } from '../principal/principal.ts';
import {
  type ServerSnapshot,
  type UserServer,
  listDeclaredVariables,
  usesGraph,
} from '../servers/definition.ts';
import { toFields } from '../servers/fields.ts';
import { describeVariables, getViewerRights } from '../servers/view.ts';
import { OPENID_SIGN_IN_PATH, connectPagePath } from '../toolcall/outcome.ts';
import type { CredentialReadinessParts, RunBlockParts } from './runBlock.ts';

type WithoutBlocks<T> = T extends unknown ? Omit<T, 'blocks'> : never;
/** What one server needs of the caller, whichever blocks wait for it. */
export type Prerequisite = WithoutBlocks<CredentialNeed>;

/** How it stands with what a caller presents to a server. */
export interface CredentialReadiness {
  readonly missing: readonly Prerequisite[];
  /** Those that can be chosen, in a stable order. */
  readonly choices: readonly CredentialChoice[];
  /** The label of the one that is used; null: none. */
  readonly selected: string | null;
  /** Only where it never had one: whoever had a credential does not go without. */
  readonly mayGoWithout: boolean;
}

/** Reads what is there of the caller's own; opens no token, renews none and asks nobody else. */
export async function getCredentialReadiness(
  parts: CredentialReadinessParts,
  server: ServerSnapshot,
  principal: Principal,
  label?: string,
): Promise<CredentialReadiness> {
  const values = [
    ...(await findMissingValues(parts, server, principal)),
    ...(await findMissingSubject(parts, server, principal)),
  ];
  if (server.scope === 'app' || !usesUserToken(server)) {
    // What is named must be what is used, and here nothing of the caller's is.
    if (label !== undefined) throw new GatewayError('MCP_CREDENTIAL_NOT_FOUND');
    return { missing: values, choices: [], selected: null, mayGoWithout: values.length === 0 };
  }
  const ownCredentials = await listOwnCredentials(parts, server, principal);
  const active = ownCredentials.filter(({ status }) => status !== 'revoked');
  const now = parts.clock.now();
  const selected = chooseCredential(active, label, now);
  const missing = [...values, ...findSignInNeeds(server, { ownCredentials, active, selected, label }, now)];
  return {
    missing,
    choices: active.map(toChoice),
    selected: selected?.label ?? null,
    mayGoWithout: ownCredentials.length === 0 && canCallWithoutToken(server),
  };
}

async function listOwnCredentials(
  { vault }: CredentialReadinessParts,
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
function chooseCredential(
  active: readonly CredentialSummary[],
  label: string | undefined,
  now: number,
): CredentialSummary | undefined {
  if (label !== undefined) {
    const labeled = active.filter((credential) => credential.label === label);
    return labeled.find(({ isDefault }) => isDefault) ?? labeled.find(isSignIn) ?? labeled[0];
  }
  if (active.length !== 1 && !active.some(({ isDefault }) => isDefault)) return undefined;
  return selectCredential(active.map(toSelectable), now);
}

function isSignIn({ kind }: CredentialSummary): boolean {
  return kind === 'oauth_code';
}

/** What choosing needs of a record: whether there is a refresh token, and not which. */
function toSelectable(credential: CredentialSummary) {
  const { hasRefreshToken, expiresAt } = credential;
  return { ...credential, rtHash: hasRefreshToken ? 'there' : null, tokenExpiresAt: expiresAt };
}

interface Candidates {
  readonly ownCredentials: readonly CredentialSummary[];
  readonly active: readonly CredentialSummary[];
  readonly selected: CredentialSummary | undefined;
  readonly label: string | undefined;
}

function findSignInNeeds(server: UserServer, candidates: Candidates, now: number): Prerequisite[] {
  const { ownCredentials, active, selected, label } = candidates;
  const toSignIn = (reason: string): Prerequisite => ({
    kind: 'sign_in',
    ...serverFields(server),
    reason,
    ...(label !== undefined && { label }),
  });
  if (selected) {
    const reason = findUnusableReason(selected, now);
    return reason === undefined ? [] : [toSignIn(reason)];
  }
  // One that is named and gone is absent: neither another one nor none takes its place.
  if (label !== undefined) return [toSignIn('absent')];
  if (active.length > 0) return [{ kind: 'choose', ...serverFields(server), choices: active.map(toChoice) }];
  if (ownCredentials.length > 0) return [toSignIn('revoked')];
  return canCallWithoutToken(server) ? [] : [toSignIn('absent')];
}

/** As far as it can be told without asking anybody. */
function findUnusableReason(credential: CredentialSummary, now: number): string | undefined {
  const { status, reason, expiresAt, hasRefreshToken } = credential;
  const isExpired = expiresAt !== null && expiresAt <= now;
  if (status === 'active') return isExpired && !hasRefreshToken ? 'expired_no_refresh' : undefined;
  // Its access token may live on.
  if (status === 'rejected') return isExpired ? (reason ?? 'rejected') : undefined;
  return status;
}

/** Where the caller's own sign-in here is exchanged, and there is none that could be. */
async function findMissingSubject(
  { subjects }: CredentialReadinessParts,
  server: ServerSnapshot,
  principal: Principal,
): Promise<Prerequisite[]> {
  if (server.scope === 'app' || !(server.auth === 'obo' || usesGraph(server.settings))) return [];
  const reason = await subjects.checkSubject(principal);
  return reason === undefined
    ? []
    : [{ kind: 'sign_in', ...serverFields(server), connectUrl: OPENID_SIGN_IN_PATH, reason }];
}

async function findMissingValues(
  { variables }: CredentialReadinessParts,
  server: ServerSnapshot,
  principal: Principal,
): Promise<Prerequisite[]> {
  if (server.scope === 'app' || !usesUserVariables(server)) return [];
  const declared = listDeclaredVariables(server.settings);
  const enteredFlags = principal.kind === 'user' ? await variables.readSetFlags(server, principal) : {};
  const descriptions = describeVariables(server.settings) ?? {};
  const values = declared
    .filter((name) => enteredFlags[name] !== true)
    .flatMap((name) => {
      const description = descriptions[name];
      return description ? [{ name, ...description }] : [];
    });
  return values.length === 0 ? [] : [{ kind: 'values', ...serverFields(server), values }];
}

function serverFields(server: ServerSnapshot): Pick<Prerequisite, 'server' | 'title' | 'connectUrl'> {
  return {
    server: server.name,
    title: server.settings.title ?? server.name,
    connectUrl: connectPagePath(server),
  };
}

function toChoice({ label, kind, isDefault }: CredentialSummary): CredentialChoice {
  return { label, kind: kind === 'static' ? 'static' : 'oauth_code', isDefault };
}

/** What a block waits for at a server. */
export interface BlockPrerequisite {
  readonly block: string;
  /** In a set: the key of the step. */
  readonly step?: string;
  readonly server: ServerSnapshot;
  readonly prerequisite: Prerequisite;
}

/**
 * Each need once, however many blocks wait for it; servers at one address together. In the order of server name, then id: who
 * fills one in finds the others where they were.
 */
export function groupPrerequisites(
  parts: Pick<RunBlockParts, 'acl' | 'registry'>,
  principal: Principal,
  prerequisites: readonly BlockPrerequisite[],
): CredentialGroup[] {
  const groups = new Map<string, { address?: string; needs: Map<string, CredentialNeed> }>();
  const sorted = [...prerequisites].sort(
    (a, b) => compareStrings(a.server.name, b.server.name) || compareStrings(a.server.id, b.server.id),
  );
  for (const { block, step, server, prerequisite } of sorted) {
    const addressKey = getAddressKey(server);
    const group = groups.get(addressKey) ?? { needs: new Map<string, CredentialNeed>() };
    groups.set(addressKey, group);
    const address = findVisibleAddress(parts, principal, server);
    if (address !== undefined) group.address = address;
    const key = JSON.stringify([server.id, prerequisite]);
    const existing = group.needs.get(key);
    if (!existing) {
      group.needs.set(key, {
        ...prerequisite,
        blocks: [block],
        ...(step !== undefined && { steps: [step] }),
      });
    } else {
      if (!existing.blocks.includes(block)) existing.blocks.push(block);
      if (step !== undefined) existing.steps?.push(step);
    }
  }
  return [...groups.values()].map(({ address: groupAddress, needs }) => ({
    ...(groupAddress !== undefined && { address: groupAddress }),
    needs: [...needs.values()],
  }));
}

/** By its canonical address. A process has none, and one with a user's values in it has another for each: they stand alone. */
function getAddressKey({ id, settings }: ServerSnapshot): string {
  const url = settings.type === 'stdio' ? undefined : readLiteralText(settings.url);
  return (url === undefined ? undefined : canonicalizeUrl(url)) ?? JSON.stringify([id]);
}

/** As it was written, to who may know it: what it was filled in with may be a secret of the operator. */
function findVisibleAddress(
  { acl, registry }: Pick<RunBlockParts, 'acl' | 'registry'>,
  principal: Principal,
  server: ServerSnapshot,
): string | undefined {
  if (!getViewerRights(principal, server, acl.getManageBits(principal, server)).isEditor) return undefined;
  const { url } = toFields(registry.origin(server).definition);
  return typeof url === 'string' ? canonicalizeUrl(url) : undefined;
}

function compareStrings(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
