import type { Requirement } from '../requirements.ts';

export const configure = {
  'follow.current': [
    'done',
    'What is followed is at most two seconds old, read anew on a notice, and not read while the feed vouches for it.',
  ],
  'follow.race': ['done', 'A change during a read is never lost, whoever made it.'],
  'follow.outage': ['done', 'After half a minute without the store what is followed allows nothing.'],
  'settings.load.definitions': [
    'done',
    'A loaded file gives its definitions as they were written, for overrides.',
  ],
  'configure.create.stored': [
    'done',
    'A user’s server is stored sealed, belongs to its author, and is told of by name alone.',
  ],
  'configure.create.permission': [
    'done',
    'Defining servers needs USE and CREATE as the store has them, at the start and when it is written.',
  ],
  'configure.create.inspected': [
    'done',
    'A server is looked at before it is stored, unless it waits for a sign-in or a user’s value.',
  ],
  'configure.create.address': [
    'done',
    'A server at an address that is not allowed is neither opened nor stored.',
  ],
  'configure.create.name': [
    'done',
    'A server is named by its title; a name that is reserved or taken gets a number.',
  ],
  'configure.create.limit': [
    'done',
    'Nobody has more servers than the limit, however many are made at once.',
  ],
  'configure.input.refused': [
    'done',
    'What is not a user’s to say of a server, or is too large, is refused by field and nothing is stored.',
  ],
  'configure.obo.create': ['done', 'A server with obo is created with CONFIGURE_OBO only, and never probed.'],
  'configure.obo.lock': [
    'done',
    'Without CONFIGURE_OBO nothing of an OBO server changes but title, description and iconPath.',
  ],
  'configure.obo.same': ['done', 'Another order or spelling of the same definition is no change of it.'],
  'configure.obo.grant': ['done', 'Who changes a locked field is the one whose word the server rests on.'],
  'configure.obo.sequences': [
    'done',
    'No sequence of changes without CONFIGURE_OBO moves an OBO server or its credentials.',
  ],
  'configure.isolation': ['done', 'No sequence of requests of one user reads or changes another’s server.'],
  'configure.change.permission': [
    'done',
    'Changing needs the ACL bit; an unknown and an invisible server answer alike, and the file is read-only.',
  ],
  'configure.change.version': ['done', 'A change names the version it saw; of two only one is stored.'],
  'configure.change.audited': [
    'done',
    'A change is told of by the names of its fields; texts need no new look.',
  ],
  'configure.secrets.kept': [
    'done',
    'A secret that is left out or masked stays, and goes when that is said.',
  ],
  'configure.secrets.bound': [
    'done',
    'A secret never follows a changed binding; the new host hears nothing.',
  ],
  'configure.remove.everything': ['done', 'A removed server takes values, rights and credentials along.'],
  'configure.remove.version': [
    'done',
    'Of a removal and a change of one version, the one that comes too late is told so and does nothing.',
  ],
  'configure.remove.finished': [
    'done',
    'A removal that was interrupted serves nobody any more, and removing again finishes it.',
  ],
  'configure.view.redacted': [
    'done',
    'Of a definition only listed fields are shown, addresses to editors alone, and no secret to anybody.',
  ],
  'configure.view.visible': [
    'done',
    'Callers find every server they may see, whatever its source, and no other.',
  ],
  'configure.view.pages': ['done', 'The list of servers can be paged and searched.'],
  'configure.inspect.look': ['done', 'A look at a new server tells whether there is one, and what it wants.'],
  'configure.override.merged': [
    'done',
    'An override is merged over the file, every field of it, for its tenant.',
  ],
  'configure.override.checked': [
    'done',
    'An override that cannot be carried out is refused by field, not stored.',
  ],
  'configure.override.admin': ['done', 'Only administrators see and write overrides.'],
  'configure.override.version': ['done', 'An override is replaced and removed by the version that was seen.'],
  'configure.override.secrets': [
    'done',
    'Secrets of overrides are masked, kept by the mask, and bound like others.',
  ],
  'configure.override.fail-closed': [
    'done',
    'An override that cannot be read hides its server; without the store nobody is served without it.',
  ],
  'configure.override.base-secrets': [
    'done',
    'No secret of the file goes where the file does not send it: who leads a server elsewhere enters them anew.',
  ],
  'configure.override.environment': [
    'done',
    'An override reads nothing of the environment, and nobody is shown what the file reads.',
  ],
  'configure.override.address': [
    'done',
    'An address that an administrator chose is judged as a user’s; proxies and certificates are the operator’s.',
  ],
  'configure.override.grants': [
    'done',
    'What users were given at a server is ended with it, and not because it was led elsewhere.',
  ],
  'configure.override.values': [
    'done',
    'Values and rights of users follow no override to another place, nor back.',
  ],
  'configure.override.obo': [
    'done',
    'An override of an OBO server needs CONFIGURE_OBO and names who decided, sealed to what they decided.',
  ],
  'configure.write.account': [
    'done',
    'Who is disabled or loses their role while a request runs stores nothing with it.',
  ],
  'configure.rest.shapes': [
    'done',
    'The routes of servers answer in the shapes and with the headers clients know.',
  ],
} as const satisfies Record<string, Requirement>;
