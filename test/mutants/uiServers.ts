import type { Mutant } from '../mutants.ts';

const folder = 'packages/web/src/servers';
const form = `${folder}/form/serverForm.ts`;
const draft = `${folder}/sharing/shareDraft.ts`;

export const uiServers: readonly Mutant[] = [
  {
    id: 'ui.servers.form-keeps',
    file: form,
    find: '{ obo: { ...before?.obo, scopes: form.oboScopes } }',
    replace: '{}',
  },
  {
    id: 'ui.servers.form-keeps',
    file: form,
    find: 'form.replacesHeaders && headersOf',
    replace: 'headersOf',
  },
  {
    id: 'ui.servers.form-keeps',
    file: form,
    find: '    ...Object.fromEntries(carried),\n',
    replace: '',
  },
  { id: 'ui.servers.form-keeps', file: form, find: '? secretMask : key', replace: '? key : key' },
  {
    id: 'ui.servers.form-keeps',
    file: form,
    find: '{ client_secret: null }',
    replace: '{}',
  },
  {
    id: 'ui.servers.form-locks',
    file: form,
    find: 'before?.obo !== undefined && !mayConfigureObo',
    replace: 'before?.obo === undefined && !mayConfigureObo',
  },
  {
    id: 'ui.servers.sharing',
    file: draft,
    find: '(aclRoles[role] & ~held) === 0',
    replace: '(aclRoles[role] & held) !== 0',
  },
  {
    id: 'ui.servers.sharing',
    file: `${folder}/sharing/principalOptions.ts`,
    find: 'mayPublic || one.type',
    replace: 'true || one.type',
  },
  { id: 'ui.servers.key', file: form, find: '? secretMask : key', replace: '? secretMask : secretMask' },
  {
    id: 'ui.values.unseen',
    file: `${folder}/page/UserValues.tsx`,
    find: '      setTyped({});\n',
    replace: '',
  },
];
