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

/** Records an operator's change of accounts in the audit log, like changes of administrators over REST. */
export async function withAuditedChange<T>(
  { store, keyring }: { readonly store: PrimaryStore; readonly keyring: Keyring },
  action: 'user.create' | 'user.change',
  work: (auditContext: AuditDetails) => Promise<AuditedResult<T>>,
): Promise<T> {
  // Log events are dropped: if the store fails, the command fails too.
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
