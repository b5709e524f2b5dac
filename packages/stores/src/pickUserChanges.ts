import type { UserChange, UserRecord } from '@behalf/gateway/ports';

const mutableUserFields = [
  'email',
  'name',
  'role',
  'roleSource',
  'roleConfirmedAt',
  'disabledAt',
  'signedOutAt',
] as const satisfies readonly (keyof UserChange)[];

/** What of an account is written. Who it is and its password stay, whatever else the given object carries. */
export function pickUserChanges(change: UserChange, changedAt: number): Partial<UserRecord> {
  const changedFields = mutableUserFields.filter((field) => change[field] !== undefined);
  return {
    ...Object.fromEntries(changedFields.map((field) => [field, change[field]])),
    updatedAt: changedAt,
  };
}
