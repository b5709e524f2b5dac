import type { DiagnosisStep } from '@behalf/contracts';

type Step = DiagnosisStep['step'];

/** What each step checks, in words for users. */
const steps: Readonly<Record<Step, string>> = {
  policy: 'Your permission',
  variables: 'Your values',
  address: 'Address',
  dns: 'DNS lookup',
  tls: 'Connection and TLS certificate',
  server: 'Server response',
  metadata: 'Sign-in metadata',
  authorization_server: 'Authorization server',
  client: 'Client registration',
  credential: 'Your sign-in or key',
  scopes: 'Scopes of your sign-in',
  trust: 'Permission to send your token',
  exchange: 'Token exchange',
  connection: 'Request with your credential',
  tools: 'Your tools',
};

const outcomes: Readonly<Record<DiagnosisStep['outcome'], string>> = {
  ok: 'OK',
  warning: 'Warning',
  failed: 'Failed',
  skipped: 'Skipped',
};

/** Texts of the diagnosis of a server. */
export const diagnosis = {
  title: 'Diagnosis',
  text: 'Checks each step of a call and shows where it fails. Nothing is changed and no tool is called.',
  run: 'Diagnose',
  again: 'Diagnose again',
  running: 'Diagnosing…',
  runningText: 'This takes a few seconds, at most 30.',
  steps,
  outcomes,
  listTitle: 'Steps of the diagnosis',
  works: 'Your calls to this server work',
  worksText: (warnings: number) => (warnings === 0 ? 'All checks passed.' : 'See the warnings below.'),
  failed: (step: string) => `Failed at: ${step}`,
  skipped: (amount: number) => (amount === 1 ? '1 step skipped' : `${amount} steps skipped`),
  whatToDo: 'What to do',
  checkedAt: (moment: string) => `Checked at ${moment}.`,
  noSteps: 'The gateway returned no steps. Reload the page.',
};
