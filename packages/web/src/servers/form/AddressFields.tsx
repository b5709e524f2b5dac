import { strings } from '../../strings/strings.ts';
import { SelectField, TextArea, TextField } from '../../ui/Field.tsx';
import type { FormParts } from './formParts.ts';
import { fitsTogether, transports, type Transport } from './serverForm.ts';

/** What people read. Everybody who may edit may change these. */
export function TextFields({ form, before, problems, change }: FormParts) {
  const text = strings.servers.form;
  return (
    <>
      <TextField
        label={text.title}
        hint={before ? text.titleHintLater : text.titleHint}
        error={problems['title']}
        isRequired={!before}
        maxLength={100}
        value={form.title}
        onChange={({ target }) => change({ title: target.value }, 'title')}
      />
      <TextArea
        label={text.description}
        hint={text.descriptionHint}
        error={problems['description']}
        rows={2}
        maxLength={4096}
        value={form.description}
        onChange={({ target }) => change({ description: target.value }, 'description')}
      />
    </>
  );
}

/** Where it is. */
export function AddressFields({ form, problems, change }: FormParts) {
  const text = strings.servers.form;
  return (
    <>
      <SelectField
        label={text.transport}
        error={problems['type']}
        value={form.type}
        onChange={({ target }) => change({ type: target.value as Transport }, 'type', 'url', 'auth')}
      >
        {transports.map((type) => (
          <option key={type} value={type} disabled={!fitsTogether(type, form.auth)}>
            {text.transports[type]}
          </option>
        ))}
      </SelectField>
      <TextField
        label={text.url}
        hint={form.type === 'websocket' ? text.urlHintWebsocket : text.urlHint}
        error={problems['url']}
        isRequired
        type="url"
        inputMode="url"
        autoComplete="off"
        spellCheck={false}
        maxLength={2048}
        value={form.url}
        onChange={({ target }) => change({ url: target.value }, 'url')}
      />
    </>
  );
}
