import type { Requirement } from '../requirements.ts';

export const oboAttackers = {
  'obo.attacker.creator': [
    'done',
    'Who may create servers and not configure On-Behalf-Of gets no token sent to a server of theirs, by any door.',
  ],
  'obo.attacker.editor': [
    'done',
    'Who may edit a server that is sent tokens changes neither where they go nor what they are for.',
  ],
  'obo.attacker.redirect': [
    'done',
    'No redirect, challenge or event stream of a server leads a token to another address.',
  ],
  'obo.attacker.scopes': [
    'done',
    'Who may configure On-Behalf-Of asks for no token of Graph, of Azure or of the login, however it is written.',
  ],
  'obo.attacker.override': [
    'done',
    'An administrator’s override asks for no such token, and no definition chooses a provider or a proxy.',
  ],
  'obo.attacker.targets': [
    'done',
    'With targets no other address gets a token, neither of servers stored before nor by any door.',
  ],
  'obo.attacker.downgraded': [
    'done',
    'From the moment an author may not decide any more, nothing is sent for their servers, also with a token at hand.',
  ],
  'obo.attacker.stale-role': [
    'done',
    'An author whose role no token has confirmed for too long counts as one who has none, until one does.',
  ],
  'obo.attacker.interleaved': [
    'done',
    'Calls of two users at once carry each their own token, in sessions of their own.',
  ],
  'obo.attacker.smuggled': [
    'done',
    'No body, query or header of a request names the token, the provider or the scopes of an exchange.',
  ],
  'obo.attacker.forged': ['done', 'A bearer token that does not hold is never sent to the provider.'],
  'obo.attacker.tampered': [
    'done',
    'A server whose row was changed past us is sent nothing, whatever was changed.',
  ],
  'obo.table.required': ['done', 'Without who decides about trust and targets no token can be obtained.'],
  'obo.table.override': ['done', 'An override of nothing but obo counts and is shown.'],
  'obo.table.grant': ['done', 'Trust follows who last decided about a server, and nobody else.'],
  'obo.table.same': [
    'done',
    'Who may not configure On-Behalf-Of may send the same definition in other words.',
  ],
  'obo.table.no-flow': ['done', 'A server that refuses tokens begins no sign-in of its own.'],
  'obo.table.absolute': ['done', 'A kept token ends when it ends, however often it is used.'],
  'obo.table.audited': [
    'done',
    'Each exchange is written down with who, server, scopes and outcome, and each use of what it brought.',
  ],
  'obo.table.no-provider': [
    'done',
    'Where no provider is set up to exchange at, a call says that the operator has to act.',
  ],
  'obo.secrets.known': [
    'done',
    'Every credential of an exchange is overheard where it is used, so that it can be looked for elsewhere.',
  ],
  'obo.secrets.told': ['done', 'No answer and no log line holds a token, a secret or a part of one.'],
  'obo.secrets.stored': ['done', 'No store and no cache holds a token or a secret in clear.'],
} as const satisfies Record<string, Requirement>;
