import type { Requirement } from '../requirements.ts';

export const identity = {
  'identity.password.verify': ['done', 'A password verifies against its own hash and no other does.'],
  'identity.password.cost': ['done', 'A password hash costs what OWASP asks for.'],
  'identity.password.unicode': ['done', 'A password may be typed with composed or combining accents.'],
  'identity.password.hostile-hash': [
    'done',
    'A stored hash that is malformed or asks for absurd work is wrong, at once.',
  ],
  'identity.password.pretend': ['done', 'An unknown account takes as long to refuse as a known one.'],
  'identity.account.sign-in': ['done', 'A local account is known by its email and password.'],
  'identity.account.one-per-mailbox': ['done', 'One account per mailbox, however the email is written.'],
  'identity.account.sealed-hash': [
    'done',
    'A password hash that was planted or moved to another row signs nobody in.',
  ],
  'identity.account.local-only': [
    'done',
    'An account of an identity provider is never joined to a local one by its email.',
  ],
  'identity.session.resolve': ['done', 'A session cookie is its user until it is ended.'],
  'identity.session.expiry': ['done', 'A session ends after seven days.'],
  'identity.session.deleted-user': ['done', 'The session of a deleted user is nobody’s.'],
  'identity.session.hash-only': ['done', 'The store never holds the secret of a session or a link.'],
  'identity.setup.single-use': ['done', 'A setup link makes one administrator, whoever comes at once.'],
  'identity.setup.expiry': ['done', 'A setup link ends after fifteen minutes.'],
  'identity.setup.first-only': ['done', 'A setup link makes nobody where there is a user.'],
  'identity.sign-in.account-limit': ['done', 'Ten wrong guesses in 15 minutes close an account to guessing.'],
  'identity.sign-in.address-limit': ['done', 'Fifty attempts in 15 minutes close an address to signing in.'],
  'identity.sign-in.counted-first': [
    'done',
    'An attempt is counted before the password is looked at, so a burst gains nothing.',
  ],
  'identity.sign-in.success-clears': ['done', 'A success clears the count of its account alone.'],
  'identity.sign-in.retry-after': ['done', 'A refused attempt is told when to come back.'],
  'identity.sign-in.no-oracle': ['done', 'Signing in does not tell which accounts exist.'],
  'identity.key-check.fits': ['done', 'A process with another key than the store’s is told so.'],
  'access.role.deny-by-default': ['done', 'A role or permission nobody knows is granted nothing.'],
  'access.role.defaults': ['done', 'Built-in roles have their defaults and what the file names.'],
  'errors.gateway.actionable': ['done', 'Every error says what happened and what to do.'],
  'errors.gateway.cause-hidden': ['done', 'What caused an error is never told to the caller.'],
} as const satisfies Record<string, Requirement>;
