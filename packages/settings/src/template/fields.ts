/** The names LibreChat defines behind `{{LIBRECHAT_USER_...}}`, `_OPENID_` and `_BODY_`. */
export const userFields = [
  'ID',
  'NAME',
  'USERNAME',
  'EMAIL',
  'PROVIDER',
  'ROLE',
  'GOOGLEID',
  'FACEBOOKID',
  'OPENIDID',
  'SAMLID',
  'LDAPID',
  'GITHUBID',
  'DISCORDID',
  'APPLEID',
  'EMAILVERIFIED',
  'TWOFACTORENABLED',
  'TERMSACCEPTED',
  'TERMSACCEPTEDAT',
] as const;

export const openidFields = [
  'ACCESS_TOKEN',
  'ID_TOKEN',
  'TOKEN',
  'USER_ID',
  'USER_EMAIL',
  'USER_NAME',
  'EXPIRES_AT',
] as const;

export const bodyFields = ['CONVERSATIONID', 'PARENTMESSAGEID', 'MESSAGEID'] as const;

/** Every placeholder that is not a user's own variable. */
export const builtInPlaceholders: readonly string[] = [
  ...userFields.map((name) => `LIBRECHAT_USER_${name}`),
  ...openidFields.map((name) => `LIBRECHAT_OPENID_${name}`),
  ...bodyFields.map((name) => `LIBRECHAT_BODY_${name}`),
  'LIBRECHAT_GRAPH_ACCESS_TOKEN',
];
