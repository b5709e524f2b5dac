import type { Requirement } from '../requirements.ts';

export const blocks = {
  'blocks.saved.kept': [
    'done',
    'A block keeps its title, its inputs and the schemas of its tool over saving, reloading and a restart.',
  ],
  'blocks.saved.fits': [
    'done',
    'A fixed or default value of a block fits its part of the tool’s schema, or nothing is saved.',
  ],
  'blocks.saved.own-tools': ['done', 'A block is saved only of a server and a tool that its author has.'],
  'blocks.saved.limits': [
    'done',
    'Blocks of an owner and the size of one have an end, and the answer says so.',
  ],
  'blocks.sealed.at-rest': [
    'done',
    'Title, description, inputs and schemas of a block are sealed in the store.',
  ],
  'blocks.sealed.tampered': [
    'done',
    'A block that was changed past the gateway, or moved to another owner, server, tool or id, is not there.',
  ],
  'blocks.access.alike': [
    'done',
    'A block of somebody else answers as one that does not exist, to an administrator too.',
  ],
  'blocks.access.bits': ['done', 'Each bit of a block opens what it names and nothing else.'],
  'blocks.access.no-server': [
    'done',
    'A shared block gives nobody its server and says which it needs; the id of a block is never that of a server.',
  ],
  'blocks.server.id': [
    'done',
    'A block refers to its server by id: one made anew under the same name is not it, and the block says that it is gone.',
  ],
  'blocks.change.version': ['done', 'A block changes by the version that its writer saw.'],
  'blocks.audit.told': [
    'done',
    'Making, changing, sharing, running and removing a block are written down, with names and no values.',
  ],
  'blocks.run.own-credential': [
    'done',
    'A shared block runs with the credential of whoever runs it, and asks them for one before anything is sent.',
  ],
  'blocks.run.never-another': [
    'done',
    'Two users who run one block at once never use the credential of the other.',
  ],
  'blocks.run.author-ends': [
    'done',
    'What its author deletes of their own credentials changes nothing for others who run a block.',
  ],
  'blocks.run.v08': [
    'done',
    'A deleted credential that a run names is absent, and never becomes an anonymous run or another credential.',
  ],
  'blocks.run.choose': [
    'done',
    'Several credentials without a default are offered in a stable order; the default or only one is used otherwise.',
  ],
  'blocks.run.side-by-side': [
    'done',
    'Runs of one user with two of their credentials at once use the one that each names.',
  ],
  'blocks.run.standing': [
    'done',
    'Whether a credential can be used is told from its record, without opening it; only who never had one goes without.',
  ],
  'blocks.run.order': [
    'done',
    'The choices of a credential keep their order whichever is selected; to go without is offered only where a credential is optional and there never was one.',
  ],
  'blocks.run.as-calls': [
    'done',
    'A run takes the credential that a call would: a token that was brought and is over gives way to a sign-in that works.',
  ],
  'blocks.run.foreseen': [
    'done',
    'Who has no sign-in to exchange for a server with obo is told so before a block runs.',
  ],
  'blocks.run.missing': [
    'done',
    'Missing inputs and missing credentials are named in one answer before anything is asked of anybody.',
  ],
  'blocks.run.newly-required': [
    'done',
    'An input that the tool requires only since the block was saved is named as missing, and nothing runs.',
  ],
  'blocks.run.fixed': ['done', 'A run replaces a default value and never a fixed one.'],
  'blocks.run.seen': [
    'done',
    'A run that names the version its user has read does not run another, and nothing is sent.',
  ],
  'blocks.run.output': [
    'done',
    'A result that does not fit the output schema of the tool is told as such, and not passed on.',
  ],
  'blocks.run.stream': ['done', 'A run is answered as JSON or as a stream of progress and result.'],
  'blocks.check.grouped': [
    'done',
    'What several blocks miss is named once each, by canonical address of the server and in a stable order.',
  ],
  'blocks.check.quiet': [
    'done',
    'A check asks a server for its list of tools at most, for nothing while something is missing, and runs nothing.',
  ],
  'blocks.check.drift': [
    'done',
    'A tool whose schema changed since saving is flagged with the difference and whether the block still runs.',
  ],
  'stores.blocks.round-trip': [
    'done',
    'A block or a set is read back as it was written, alone and among others.',
  ],
  'stores.blocks.apart': [
    'done',
    'With the id of another tenant’s block or set nobody reads, changes or removes it.',
  ],
  'stores.blocks.version': ['done', 'Of parallel changes of one version of a block or a set, one is made.'],
  'stores.blocks.limits': [
    'done',
    'However many are saved at once, nobody has more blocks or sets than allowed.',
  ],
} as const satisfies Record<string, Requirement>;
