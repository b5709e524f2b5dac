export const auditKinds = ['call', 'config', 'permission', 'sign_in', 'credential', 'audit'] as const;
export type AuditKind = (typeof auditKinds)[number];

/** `uncertain`: it may or may not have happened. `asked`: the server asked back, and the caller may come again. */
export const auditOutcomes = ['ok', 'refused', 'failed', 'uncertain', 'asked'] as const;
export type AuditOutcome = (typeof auditOutcomes)[number];
