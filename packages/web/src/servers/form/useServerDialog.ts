import type { CreatedServerView, ServerView } from '@behalf/contracts';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiError } from '../../api/request.ts';
import {
  checkServer,
  createServer,
  invalidateServers,
  serverQuery,
  updateServer,
} from '../../api/servers.ts';
import type { InitialForm } from '../add/discoveryResult.ts';
import { type FieldProblems, toFormProblems, validateForm } from './formProblems.ts';
import { type ServerForm, emptyForm, isChanged, toServerConfig, toServerForm } from './serverForm.ts';

/** Props of all sections of the dialog. */
export interface FormSectionProps {
  readonly form: ServerForm;
  /** The stored server; undefined for a new one. */
  readonly before: ServerView | undefined;
  readonly problems: FieldProblems;
  readonly change: Change;
}

/** The edited server as it was when the dialog opened. */
export interface EditedServer {
  readonly name: string;
  readonly view: ServerView;
}

/** Changes the form and clears the errors of the given fields. */
type Change = (patch: Partial<ServerForm>, ...fields: readonly string[]) => void;

export function useServerDialog(
  edited: EditedServer | undefined,
  initialForm: InitialForm | undefined,
  onSaved: (view: CreatedServerView) => void,
) {
  const queryClient = useQueryClient();
  const [before, setBefore] = useState(edited?.view);
  const savedForm = before ? toServerForm(before) : (initialForm?.form ?? emptyForm);
  const [form, setForm] = useState(savedForm);
  const [problems, setProblems] = useState<FieldProblems>({});
  // Counts failed validations, so that each one moves the focus to the first invalid field.
  const [refusals, setRefusals] = useState(0);

  function showProblems(fields: FieldProblems): void {
    setProblems(fields);
    setRefusals((count) => count + 1);
  }

  const onError = (error: unknown) => showProblems(toFormProblems(error, form, before).fields);
  const saveMutation = useMutation({
    mutationFn: (): Promise<CreatedServerView> => {
      const config = toServerConfig(form, before);
      return edited
        ? updateServer(edited.name, config, before?.version)
        : createServer(config, initialForm?.draft);
    },
    onSuccess: (view) => {
      onSaved(view);
      return invalidateServers(queryClient);
    },
    onError,
  });
  const checkMutation = useMutation({
    mutationFn: () => checkServer(toServerConfig(form, before), edited?.name),
    onError,
  });

  /** Discards the input and loads the stored version. */
  const reloadMutation = useMutation({
    mutationFn: (name: string) => queryClient.query({ ...serverQuery(name), staleTime: 0 }),
    onSuccess: (view) => {
      setBefore(view);
      setForm(toServerForm(view));
      setProblems({});
      saveMutation.reset();
    },
  });

  function validateAndRun(run: () => void): void {
    saveMutation.reset();
    checkMutation.reset();
    const fieldProblems = validateForm(form, before);
    if (Object.keys(fieldProblems).length > 0) showProblems(fieldProblems);
    else {
      setProblems({});
      run();
    }
  }

  const change: Change = (patch, ...fields) => {
    setForm({ ...form, ...patch });
    setProblems(Object.fromEntries(Object.entries(problems).filter(([field]) => !fields.includes(field))));
    // The test result is outdated after a change.
    if (checkMutation.data) checkMutation.reset();
  };

  const error = saveMutation.error ?? checkMutation.error;
  return {
    form,
    before,
    problems,
    refusals,
    change,
    isChanged: isChanged(form, savedForm),
    error,
    otherProblems: toFormProblems(error, form, before).others,
    hasConflict: error instanceof ApiError && error.code === 'MCP_VERSION_CONFLICT',
    checkResult: checkMutation.data,
    isSaving: saveMutation.isPending,
    isChecking: checkMutation.isPending,
    isReloading: reloadMutation.isPending,
    reloadError: reloadMutation.error,
    save: () => validateAndRun(() => saveMutation.mutate()),
    check: () => validateAndRun(() => checkMutation.mutate()),
    reload: () => edited && reloadMutation.mutate(edited.name),
  };
}

export type ServerDialogState = ReturnType<typeof useServerDialog>;
