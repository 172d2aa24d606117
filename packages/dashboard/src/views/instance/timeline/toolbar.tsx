import { CircleHelp, Maximize2, Search, ZoomIn, ZoomOut } from "lucide-react";
import type { Choice } from "./rows.ts";
import type { ChoiceChange } from "./use-choice.ts";
import type { Zoom } from "./use-zoom.ts";

export function Toolbar({
  choice,
  onChoice,
  isCompressed,
  canCompress,
  onCompress,
  zoom,
  isZoomed,
  isExplained,
  onExplain,
}: {
  readonly choice: Choice;
  readonly onChoice: (change: ChoiceChange) => void;
  readonly isCompressed: boolean;
  readonly canCompress: boolean;
  readonly onCompress: (next: boolean) => void;
  readonly zoom: Zoom;
  readonly isZoomed: boolean;
  /** Whether it says what the looks of bars mean. */
  readonly isExplained: boolean;
  readonly onExplain: () => void;
}) {
  return (
    <div className="tl-toolbar">
      <label className="tl-find">
        <Search aria-hidden />
        <span className="for-readers">Find steps by name</span>
        <input
          type="search"
          placeholder="Find by name"
          value={choice.find}
          onChange={(event) => onChoice({ find: event.target.value })}
        />
      </label>
      <label className="tl-check">
        <input
          type="checkbox"
          checked={choice.isCompletedHidden}
          onChange={(event) => onChoice({ isCompletedHidden: event.target.checked })}
        />
        Hide completed
      </label>
      <div className="tl-toolbar-end">
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset would bring its own look */}
        <div className="tl-switch" role="group" aria-label="Scale of time">
          <button
            type="button"
            className="tiny"
            aria-pressed={!isCompressed}
            onClick={() => onCompress(false)}
            title="Every second has the same width."
          >
            To scale
          </button>
          <button
            type="button"
            className="tiny"
            aria-pressed={isCompressed}
            disabled={!canCompress}
            onClick={() => onCompress(true)}
            title={
              canCompress
                ? "Long waits are cut short, so that the work can be seen."
                : "There is no wait long enough to be cut short."
            }
          >
            Compress waits
          </button>
        </div>
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset would bring its own look */}
        <div className="tl-switch" role="group" aria-label="Zoom">
          <button
            type="button"
            className="tiny icon-only"
            onClick={zoom.wider}
            disabled={!isZoomed}
            aria-label="Zoom out"
            title="Zoom out (-)"
          >
            <ZoomOut aria-hidden />
          </button>
          <button
            type="button"
            className="tiny icon-only"
            onClick={zoom.closer}
            aria-label="Zoom in"
            title="Zoom in (+). Or turn the wheel with Ctrl, or drag along the axis."
          >
            <ZoomIn aria-hidden />
          </button>
          <button
            type="button"
            className="tiny icon-only"
            onClick={zoom.fit}
            disabled={!isZoomed}
            aria-label="Show all"
            title="Show all (0)"
          >
            <Maximize2 aria-hidden />
          </button>
        </div>
        <button
          type="button"
          className="tiny icon-only quiet"
          onClick={onExplain}
          aria-expanded={isExplained}
          aria-label="Legend"
          title="What the looks mean"
        >
          <CircleHelp aria-hidden />
        </button>
      </div>
    </div>
  );
}
