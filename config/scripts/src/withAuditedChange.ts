import {
  createAuditLog,
  DEFAULT_TENANT,
  withAudit,
  type AuditedResult,
  type AuditDetails,
} from '@behalf/gateway';
import type { PrimaryStore } from '@behalf/gateway/ports';
import type { Keyring } from '@behalf/kernel';
import { systemParts } from './environment.ts';

/** What an operator does to accounts from the console, told in the audit like what administrators do over REST. */
export async function withAuditedChange<T>(
  { store, keyring }: { readonly store: PrimaryStore; readonly keyring: Keyring },
  action: 'user.create' | 'user.change',
  work: (auditContext: AuditDetails) => Promise<AuditedResult<T>>,
): Promise<T> {
  // What could be logged is that the store fails, and then the command fails with it.
  const audit = createAuditLog({ store: store.audit, keyring, ...systemParts, log: () => undefined });
  const eventFields = {
    tenant: DEFAULT_TENANT,
    actor: { kind: 'operator', id: '' },
    door: 'script',
  } as const;
  try {
    return await withAudit(audit, { kind: 'permission', action, ...eventFields }, work);
  } finally {
    await audit.close();
  }
}
