import type { CredentialChoice, CredentialGroup, CredentialNeed } from '@behalf/contracts';
import { readLiteralText } from '@behalf/settings';
import { credentialHolder } from '../principal/credentialHolder.ts';
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
} from '../definitions/definition.ts';
import { toFields } from '../servers/fields.ts';
import { describeVariables, getViewerRights } from '../servers/view.ts';
import { OPENID_SIGN_IN_PATH, connectPagePath } from '../toolcall/outcome.ts';
import type { BlockParts, CredentialReadinessParts } from './runBlock.ts';

type WithoutBlocks<T> = T extends unknown ? Omit<T, 'blocks'> : never;
/** The requirements of one server that the caller must provide, independent of the blocks that need it. */
export type Prerequisite = WithoutBlocks<CredentialNeed>;

/** Whether the caller has the credentials that a server requires. */
export interface CredentialReadiness {
  readonly missing: readonly Prerequisite[];
  /** The caller's credentials for the server, in a stable order. */
  readonly choices: readonly CredentialChoice[];
  /** The label of the credential that a run would use; null: none. */
  readonly selected: string | null;
  /** Whether a run without a credential is possible. False if the caller ever had one. */
  readonly mayGoWithout: boolean;
}

/** Reads stored state only: opens no token, refreshes none, and contacts no other party. */
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
    // A named credential must be the one that is used, and this server uses none of the caller's.
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
  // A service cannot sign in.
  if (principal.kind !== 'user') return [];
  const all = await vault.list(principal.tenant, credentialHolder(principal), id);
  return all.filter(({ kind }) => kind === 'oauth_code' || kind === 'static');
}

/**
 * The credential with the given label. Without a label: the credential that a call would select, if there is a default or only
 * one. Undefined if there are several without a default: the user must choose.
 */
function chooseCredential(
  active: readonly CredentialSummary[],
  label: string | undefined,
  now: number,
): CredentialSummary | undefined {
  if (label !== undefined) {
    const labeled = active.filter((credential) => credential.label === label);
    return (
      labeled.find(({ isDefault }) => isDefault) ??
      labeled.find(({ kind }) => kind === 'oauth_code') ??
      labeled[0]
    );
  }
  if (active.length !== 1 && !active.some(({ isDefault }) => isDefault)) return undefined;
  const selectable = active.map((credential) => {
    const { hasRefreshToken, expiresAt } = credential;
    // The selector needs to know whether there is a refresh token, not its hash.
    return { ...credential, rtHash: hasRefreshToken ? 'present' : null, tokenExpiresAt: expiresAt };
  });
  return selectCredential(selectable, now);
}

function findSignInNeeds(
  server: UserServer,
  candidates: {
    readonly ownCredentials: readonly CredentialSummary[];
    readonly active: readonly CredentialSummary[];
    readonly selected: CredentialSummary | undefined;
    readonly label: string | undefined;
  },
  now: number,
): Prerequisite[] {
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
  // Neither another credential nor none replaces a named one.
  if (label !== undefined) return [toSignIn('absent')];
  if (active.length > 0) return [{ kind: 'choose', ...serverFields(server), choices: active.map(toChoice) }];
  if (ownCredentials.length > 0) return [toSignIn('revoked')];
  return canCallWithoutToken(server) ? [] : [toSignIn('absent')];
}

/** Judged by the stored state only. */
function findUnusableReason(credential: CredentialSummary, now: number): string | undefined {
  const { status, reason, expiresAt, hasRefreshToken } = credential;
  const isExpired = expiresAt !== null && expiresAt <= now;
  if (status === 'active') return isExpired && !hasRefreshToken ? 'expired_no_refresh' : undefined;
  // The refresh token was rejected, but the access token may still be valid.
  if (status === 'rejected') return isExpired ? (reason ?? 'rejected') : undefined;
  return status;
}

/** For token exchange: the caller must have signed in at the identity provider. */
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

/** A prerequisite of one block or step. */
export interface BlockPrerequisite {
  readonly block: string;
  /** The key of the step, in a set. */
  readonly step?: string;
  readonly server: ServerSnapshot;
  readonly prerequisite: Prerequisite;
}

/**
 * Lists each prerequisite once, with its blocks, grouped by the address of the server. The order (server name, then id) is
 * stable, so that the list does not move while the user completes it.
 */
export function groupPrerequisites(
  parts: BlockParts,
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

/** The canonical URL. A stdio server, and a URL with placeholders, form a separate group. */
function getAddressKey({ id, settings }: ServerSnapshot): string {
  const url = settings.type === 'stdio' ? undefined : readLiteralText(settings.url);
  return (url === undefined ? undefined : canonicalizeUrl(url)) ?? JSON.stringify([id]);
}

/** The URL as configured, for editors of the server only. Rendered placeholders may contain a secret of the operator. */
function findVisibleAddress(
  { acl, registry }: BlockParts,
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
