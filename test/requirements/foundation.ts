import type { Requirement } from '../requirements.ts';

export const foundation = {
  'start.first-minute': [
    'done',
    'An empty directory becomes a gateway with an administrator and working tools.',
  ],
  'start.restart-keeps': ['done', 'A restart keeps accounts and sessions.'],
  'start.private-data': ['done', 'Data directory, key and database are readable by their owner alone.'],
  'start.setup-link.not-with-openid': [
    'done',
    'No setup link is printed where an identity provider is configured.',
  ],
  'start.sample-only-on-loopback': [
    'done',
    'The sample server runs only while the gateway is bound to loopback.',
  ],
  'start.invalid-config.exit-78': [
    'done',
    'A configuration that is not valid ends the start with 78 and one message.',
  ],
  'start.foreign-key.exit-78': ['done', 'A replica with another key does not start.'],
  'start.key-required': ['done', 'With MongoDB or Redis the key must be given.'],
  'start.reload.keeps-old': [
    'done',
    'A reload swaps in a valid configuration whole and keeps the old one otherwise.',
  ],
  'start.reload.all-replicas': ['done', 'A reload asked of one replica reaches all.'],
  'start.example-runs': ['done', 'The server of librechat.yaml.example works as shipped.'],
  'start.env-file': ['done', 'A .env file fills in what the process was not given.'],
  'start.librechat-file': [
    'done',
    'A file with every LibreChat section boots; what has no effect is named once.',
  ],
  'start.drain': ['done', 'SIGTERM lets what is under way finish and exits 0.'],
  'start.store-in-maintenance': [
    'done',
    'A copy refuses while a gateway runs on the store, and no gateway starts meanwhile.',
  ],
  'start.create-user': [
    'done',
    'Accounts and roles can be made on the command line, without a password in the arguments.',
  ],
  'start.no-secret-in-log': ['done', 'No secret reaches the log.'],
  'start.store-pairs': [
    'done',
    'A gateway starts on each of the four pairs of stores, and /ready says which.',
  ],
  'start.lean': ['done', 'A default start loads no driver or SDK that the configuration does not ask for.'],
  'ready.names-what-is-missing': [
    'done',
    '/ready is 503 and names what is missing; the gateway recovers by itself.',
  ],
  'start.evicted': [
    'done',
    'A gateway whose store was taken into maintenance stops writing and ends with 75.',
  ],
  'start.failures-are-words': [
    'done',
    'A start that fails says what to do, with a code and without a stack or a secret.',
  ],
  'start.restrictions.enforced': [
    'done',
    'Who sees a server and which tools exist follows the file, also after a reload.',
  ],
  'start.restrictions.fail-closed': [
    'done',
    'A server whose restriction cannot be carried out is not offered.',
  ],
  'stdio.environment.inherited': [
    'done',
    'A stdio server of the file gets an allow-list of our environment and no key.',
  ],
  'http.foreign-host': ['done', 'Bound to loopback, requests for other names are refused.'],
  'http.deny-by-default': ['done', 'Every API route asks for a sign-in unless it is listed as public.'],
  'http.admin-only': ['done', 'Administration is refused to everybody but administrators.'],
  'http.csrf': ['done', 'A write from a browser comes from our own origin or carries our header.'],
  'http.session-cookie': ['done', 'The session cookie is HttpOnly, SameSite=Lax, and Secure on https.'],
  'http.logout.cookie': ['done', 'A browser loses its cookie also when a sign-out cannot be written down.'],
  'http.logout': ['done', 'Signing out ends the session itself.'],
  'http.setup-link.single-use': ['done', 'A setup link makes one account.'],
  'http.bad-input-changes-nothing': [
    'done',
    'A request that is not valid is a 4xx with its fields, and changes nothing.',
  ],
  'http.sign-in.rate-limited': ['done', 'Guessing at passwords is limited per account and per address.'],
  'http.sign-in.no-oracle': ['done', 'Sign-in does not tell which accounts exist.'],
  'http.problem': ['done', 'Every error is a problem document with a stable code.'],
  'http.headers': ['done', 'Pages run no script, are not framed, cached, or named to other sites.'],
  'http.pages.empty': ['done', 'With no account yet, the sign-in page says where to begin.'],
  'http.pages.escape': ['done', 'What people type is shown as text.'],
  'pages.setup': ['done', 'Setup and sign-in work with the keyboard alone and without script.'],
  'docs.links': [
    'done',
    'Every relative link of a page leads somewhere, and the architecture page names what exists.',
  ],
  'docs.routes': ['done', 'The REST reference lists every route and no other, with who may enter.'],
  'docs.events': ['done', 'Every event of the log is explained in a guide.'],
  'docs.commands': ['done', 'Every npm command a page names exists.'],
} as const satisfies Record<string, Requirement>;
