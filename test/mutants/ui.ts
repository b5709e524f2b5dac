import type { Mutant } from '../mutants.ts';

const web = 'packages/web/src';

/** Each is built into an interface of its own, so there are few. */
export const ui: readonly Mutant[] = [
  {
    id: 'ui.harmless.chat',
    file: `${web}/chat/markdown/MarksView.tsx`,
    find: "    case 'text':\n      return mark.text;",
    replace: "    case 'text':\n      return <span dangerouslySetInnerHTML={{ __html: mark.text }} />;",
  },
  {
    id: 'ui.harmless.chat',
    file: `${web}/result/safeHref.ts`,
    find: "url.protocol === 'https:' || url.protocol === 'http:'",
    replace: "url.protocol !== ''",
  },
  {
    id: 'ui.harmless.tools',
    file: `${web}/result/readBlock.ts`,
    find: "'image/webp']",
    replace: "'image/webp', 'image/svg+xml']",
  },
  {
    id: 'ui.servers.obo-hidden',
    file: `${web}/servers/form/AuthFields.tsx`,
    find: "\n          .filter((kind) => kind !== 'obo' || mayConfigureObo || auth === 'obo')",
    replace: '',
  },
  {
    id: 'ui.servers.obo-locked',
    file: `${web}/servers/form/ServerDialog.tsx`,
    find: '<fieldset disabled={locked}',
    replace: '<fieldset disabled={false}',
  },
  {
    id: 'ui.servers.viewer',
    file: `${web}/servers/page/ServerActions.tsx`,
    find: "const mayEdit = mayDefine && grants(view.permissions, 'EDIT');",
    replace: 'const mayEdit = mayDefine;',
  },
  {
    id: 'ui.chat.approval',
    file: `${web}/call/ApprovalQuestion.tsx`,
    find: 'onClick={() => onDecide(false)}',
    replace: 'onClick={() => onDecide(true)}',
  },
  // What nobody has seen could be approved.
  {
    id: 'ui.console.approval',
    file: `${web}/call/ApprovalQuestion.tsx`,
    find: 'disabled={!isSeen || deciding !== undefined}',
    replace: 'disabled={deciding !== undefined}',
  },
  // A key that was meant for something else would approve.
  {
    id: 'ui.chat.approval',
    file: `${web}/call/ApprovalQuestion.tsx`,
    find: 'if (!yieldsToTyping || !isTyping(document.activeElement)) box.current?.focus();',
    replace: "box.current?.querySelector('button')?.focus();",
  },
  {
    id: 'ui.chat.stop',
    file: `${web}/chat/session/session.ts`,
    find: 'await parts.stop(known);',
    replace: 'await Promise.resolve(known);',
  },
  {
    id: 'ui.sign-in.ended',
    file: `${web}/app/queryClient.ts`,
    find: '  if (error.status === 401) sessionEnded();\n',
    replace: '',
  },
  {
    id: 'ui.rights.follow',
    file: `${web}/api/user.ts`,
    find: '  refetchInterval: REFRESH_MS,\n',
    replace: '',
  },
  {
    id: 'ui.offline.page',
    file: `${web}/app/ReachabilityBanner.tsx`,
    find: '      void client.invalidateQueries();\n',
    replace: '',
  },
  // What was pressed twice would be done twice.
  {
    id: 'ui.habits.busy',
    file: `${web}/ui/Button.tsx`,
    find: '    if (isBusy) event.preventDefault();\n    else onClick?.(event);',
    replace: '    onClick?.(event);',
  },
  {
    id: 'ui.habits.address',
    file: `${web}/servers/page/useOpenDialog.ts`,
    find: 'named === null || may[named]',
    replace: 'named === null || dialogs.includes(named)',
  },
  {
    id: 'ui.habits.drawer',
    file: `${web}/app/Shell.tsx`,
    find: 'tabIndex={-1} inert={isOpen}',
    replace: 'tabIndex={-1}',
  },
  {
    id: 'ui.harmless.approval',
    file: `${web}/call/Name.tsx`,
    find: '<code className={className}>{visibleText(name)}</code>',
    replace: '<code dangerouslySetInnerHTML={{ __html: visibleText(name) }} />',
  },
  {
    id: 'ui.chat.choices',
    file: `${web}/chat/composer/choices.ts`,
    find: '...(servers && { servers })',
    replace: '...(servers?.length === 0 && { servers })',
  },
];
