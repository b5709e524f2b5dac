import type { DiagnosisStep } from '@behalf/contracts';

type Step = DiagnosisStep['step'];

/** What is looked at, in the words of who is not at home in it. */
const steps: Readonly<Record<Step, string>> = {
  policy: 'Your permission',
  variables: 'Your values',
  address: 'Address',
  dns: 'Name of the host',
  tls: 'Connection and certificate',
  server: 'The server itself',
  metadata: 'Where users sign in',
  authorization_server: 'The sign-in service',
  client: 'How the gateway is known there',
  credential: 'Your sign-in or key',
  scopes: 'What your sign-in reaches',
  trust: 'Whether your token may go there',
  exchange: 'Exchange of your token',
  connection: 'A request in your name',
  tools: 'Tools for you',
};

const outcomes: Readonly<Record<DiagnosisStep['outcome'], string>> = {
  ok: 'OK',
  warning: 'Worth knowing',
  failed: 'Failed',
  skipped: 'Not looked at',
};

/** Words about why calls to a server do or do not work. */
export const diagnosis = {
  title: 'Diagnosis',
  text: 'Goes through a call of yours step by step and says where it stops. Nothing is changed, no sign-in is begun and no tool is called.',
  run: 'Diagnose',
  again: 'Diagnose again',
  running: 'Looking at it',
  runningText: 'The gateway looks at each step. This takes a few seconds, and at most half a minute.',
  steps,
  outcomes,
  listTitle: 'Steps of the diagnosis',
  works: 'Your calls to this server work',
  worksText: (noted: number) =>
    noted === 0 ? 'Every step that was looked at is as it should be.' : 'See below what is worth knowing.',
  failed: (step: string) => `It stops at: ${step}`,
  skipped: (amount: number) => (amount === 1 ? '1 step not looked at' : `${amount} steps not looked at`),
  whatToDo: 'What to do',
  lookedAt: (moment: string) => `Looked at ${moment}. What changed since then is not in it.`,
  empty: 'The gateway named no steps. It may be of another version: reload the page.',
};
