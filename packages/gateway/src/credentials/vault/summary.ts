import type { CredentialRecord, CredentialStatus } from '../../ports/index.ts';
import type { CredentialSummary } from './vault.ts';
import type { ResolvedVaultParts } from './vaultParts.ts';
import { checkBinding } from './credentialSnapshot.ts';

const FINGERPRINT_LENGTH = 8;

/** What may be shown of a credential, as it stands with the server of today. Opens nothing. */
export async function summarizeCredential(
  { keyring, contexts }: Pick<ResolvedVaultParts, 'keyring' | 'contexts'>,
  record: CredentialRecord,
): Promise<CredentialSummary> {
  const { id, tenant, principal, serverId, kind, label, isDefault, reason, statusAt, generation, issuer } =
    record;
  const status = await readStatus();
  return {
    ...{ id, tenant, principal, serverId, kind, label, isDefault },
    status,
    reason: status === record.status ? (status === 'active' ? null : reason) : status,
    ...{ statusAt, generation, issuer },
    scopes: record.scopesGranted,
    expiresAt: record.tokenExpiresAt,
    hasRefreshToken: record.rtHash !== null,
    fingerprint: record.atHash?.slice(0, FINGERPRINT_LENGTH) ?? null,
    createdAt: record.createdAt,
    updatedAt: record.updatedAt,
  };

  /** Whether it fits and opens is nothing that is stored: a definition that is put right again brings it back. */
  async function readStatus(): Promise<CredentialStatus> {
    if (record.status !== 'active' || record.sealed === null) return record.status;
    if (!keyring.hasKeyFor(record.sealed)) return 'unreadable';
    try {
      const context = await contexts.resolve(record);
      return checkBinding(record, context === 'unbound' ? undefined : context) === 'unbound'
        ? 'unbound'
        : 'active';
    } catch {
      return 'active';
    }
  }
}
