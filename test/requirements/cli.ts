import type { Requirement } from '../requirements.ts';

export const cli = {
  'diagnose.order.steps': ['done', 'A diagnosis names every step of a call, and the first that failed.'],
  'diagnose.deny.alike': [
    'done',
    'A diagnosis of a forbidden server is that of an unknown one, and asks nobody.',
  ],
  'diagnose.secrecy.addresses': [
    'done',
    'A diagnosis names hosts to who may see them, and nothing else of an address.',
  ],
  'diagnose.secrecy.words': [
    'done',
    'A diagnosis repeats no word of a server and nothing that is presented to it.',
  ],
  'diagnose.harmless.refusal': [
    'done',
    'A refusal that a diagnosis meets renews nothing and changes no credential.',
  ],
  'diagnose.bounds.time': [
    'done',
    'A step of a diagnosis has 5 s and all of it 30 s, whatever hangs or breaks.',
  ],
  'diagnose.others.nothing': [
    'done',
    'A diagnosis about somebody else tells how their credential stands and presents nothing of theirs to anybody.',
  ],
  'diagnose.others.admins': [
    'done',
    'Only administrators diagnose somebody else, of their own tenant, and it is written down that they did.',
  ],
  'diagnose.network.causes': ['done', 'Address, name, connection and certificate are told apart.'],
  'diagnose.server.answers': [
    'done',
    'What a server says to who has no credential is judged by what it is meant to be.',
  ],
  'diagnose.signin.steps': [
    'done',
    'What keeps users from signing in is told at its own step; nothing is registered.',
  ],
  'diagnose.credential.states': ['done', 'How a sign-in stands, and why it is over, is told in a sentence.'],
  'diagnose.scopes.compared': ['done', 'What was granted is compared with what is asked for.'],
  'diagnose.exchange.trust': [
    'done',
    'Nothing is exchanged for a server that is not trusted, and whose turn it is is told.',
  ],
  'diagnose.tools.counted': ['done', 'Tools that the policy hides are counted and not named.'],
  'cli.usage.help': ['done', 'Every command and every group of the command line explains itself.'],
  'cli.usage.mistakes': [
    'done',
    'Whatever is wrong with a command line is said at once, and nothing is done.',
  ],
  'cli.exit.codes': ['done', 'The exit code says what kind of end a command came to.'],
  'cli.json.document': ['done', 'With --json standard output is one document, also of a failure.'],
  'cli.docs.help': ['done', 'The page about the command line says what its help says.'],
  'cli.secrecy.echo': ['done', 'A secret that was typed or piped in the wrong place is not repeated.'],
  'cli.secrecy.key': ['done', 'The API key goes to the gateway that was named and to nobody it points at.'],
  'cli.secrecy.unencrypted': [
    'done',
    'The API key is not sent unencrypted to another machine unless its owner says so.',
  ],
  'cli.secrecy.tokens': ['done', 'The command line prints no token, code or key.'],
  'cli.output.harmless': ['done', 'Words of servers reach a terminal without what it would act upon.'],
  'cli.output.colours': ['done', 'Colours are only where a terminal shows them.'],
  'cli.output.times': ['done', 'Times and credentials are told in words, a credential by its fingerprint.'],
  'cli.list.servers': ['done', 'The command line lists servers as they stand for the caller.'],
  'cli.add.remove': [
    'done',
    'The command line adds a server after a look at it, and removes it when told so.',
  ],
  'cli.add.oauth': [
    'done',
    'A server whose users sign in is added from the command line, over what its file says of the sign-in.',
  ],
  'cli.progress.told': ['done', 'What takes long says what it is doing, beside what was asked for.'],
  'cli.test.server': ['done', 'The command line tests a server and says how long it took and what it has.'],
  'cli.blocks': [
    'done',
    'Blocks are listed, checked and run from the terminal; inputs and credentials that are missing are named together.',
  ],
  'cli.call.typed': ['done', 'Inputs of a tool are read as the tool declares them.'],
  'cli.call.missing': ['done', 'Inputs that are missing are named together before anything is sent.'],
  'cli.call.result': [
    'done',
    'A result is printed by its texts, and what failed or needs a sign-in is told.',
  ],
  'cli.config.check': [
    'done',
    'A configuration is checked offline, with line, path, reason and what was meant.',
  ],
  'cli.doctor.checklist': ['done', 'A diagnosis is printed as a line for each step, with what to do.'],
  'cli.doctor.healthy': [
    'done',
    'The doctor tells a server that works, and shows no address to who may not see it.',
  ],
  'cli.doctor.unreachable': ['done', 'The doctor names the step at which a server cannot be reached.'],
  'cli.doctor.forbidden': ['done', 'The doctor tells a forbidden server and an unknown one alike.'],
  'cli.login.landed': [
    'done',
    'A login ends when the token is stored and the server was asked with it; a look before begins nothing.',
  ],
  'cli.login.survives': ['done', 'A login that fails leaves the sign-in before as it was.'],
  'cli.login.stopped': ['done', 'A login that is stopped is cancelled.'],
  'cli.login.joined': ['done', 'A second login goes on with the first.'],
  'cli.logout.truth': ['done', 'A logout says what the authorization server answered.'],
  'cli.reauth.all': [
    'done',
    'Sign-ins that are needed are made one after the other; an administrator asks for everybody’s.',
  ],
  'cli.token.stdin': ['done', 'A token is taken from standard input alone.'],
  'cli.token.imported': ['done', 'A token that was imported is used by every running gateway within 2 s.'],
} satisfies Record<string, Requirement>;
