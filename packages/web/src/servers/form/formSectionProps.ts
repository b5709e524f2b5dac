import type { ServerView } from '@behalf/contracts';
import type { FieldProblems } from './formProblems.ts';
import type { ServerForm } from './serverForm.ts';
import type { Change } from './useServerDialog.ts';

/** What every part of the dialog shows and changes. */
export interface FormSectionProps {
  readonly form: ServerForm;
  /** The server as it was; undefined of a new one. */
  readonly before: ServerView | undefined;
  readonly problems: FieldProblems;
  readonly change: Change;
}
