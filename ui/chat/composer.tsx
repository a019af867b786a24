/**
 * The box to write in: grows with the text, Enter sends, Shift+Enter makes a new line. While a turn runs it also stops it. The text stays when it
 * could not be sent.
 */
import { useLayoutEffect, useRef } from "preact/hooks";
import { Icon } from "../parts/icons.tsx";
import { isSendKey } from "../parts/question/question_form.tsx";
import { useApp } from "../parts/use_app.ts";
import { strings } from "../strings.ts";

const words = strings.chat;

interface ComposerProps {
  readonly isRunning: boolean;
  /** There is no conversation yet: sending begins one and goes there. */
  readonly isFirst?: boolean;
}

/** The box with its buttons. */
export function Composer({ isRunning, isFirst = false }: ComposerProps) {
  const { chat, router } = useApp();
  const box = useRef<HTMLTextAreaElement>(null);
  const text = chat.draft.value;
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    element.rows = 1;
    const lineHeight = parseFloat(getComputedStyle(element).lineHeight);
    element.rows = Math.min(8, Math.max(1, Math.floor(element.scrollHeight / lineHeight)));
  }, [text]);
  const send = async () => {
    const conversation = await chat.submit();
    if (isFirst && conversation !== undefined) {
      router.go({ name: "chat", id: conversation }, { replace: true });
    }
  };
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <div class="composer-box">
        <textarea
          ref={box}
          rows={1}
          maxLength={200_000}
          aria-label={words.box}
          aria-describedby="composer-hint"
          placeholder={words.placeholder}
          enterkeyhint="send"
          value={text}
          onInput={(event) => chat.write(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (!isSendKey(event)) return;
            event.preventDefault();
            void send();
          }}
        />
        {isRunning && (
          <button
            type="button"
            class="button stop"
            disabled={chat.stopping.value}
            onClick={() => void chat.stop()}
          >
            <Icon name="stop" /> {chat.stopping.value ? words.stopping : words.stop}
          </button>
        )}
        <button
          type="submit"
          class="button primary icon-button"
          aria-label={words.send}
          disabled={text.trim() === ""}
        >
          <Icon name="send" />
        </button>
      </div>
      <p class="hint composer-hint" id="composer-hint">{words.hint}</p>
    </form>
  );
}
