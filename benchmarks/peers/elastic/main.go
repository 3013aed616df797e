// Elastic's integration corpus generator with its placeholder templates, as a peer: the protocol of ../protocol.py.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand"
	"os"
	"strings"
	"time"

	"github.com/elastic/elastic-integration-corpus-generator-tool/pkg/genlib"
	"github.com/elastic/elastic-integration-corpus-generator-tool/pkg/genlib/config"
)

const (
	block       = 1000
	weightSlots = 20000 // an enum draws evenly, so a value stands in it as often as its weight says, and at least once
	atOnce      = 1 << 20
	most        = 1 << 40 // events that the times are reckoned for
)

type pool struct {
	Field   string   `json:"field"`
	Values  []string `json:"values"`
	Weights []int    `json:"weights"`
}

type longText struct {
	Field string   `json:"field"`
	Lines []string `json:"lines"`
	Sizes []int    `json:"sizes"`
}

type profile struct {
	FirstMilliseconds int64     `json:"first_milliseconds"`
	StepMilliseconds  float64   `json:"step_milliseconds"`
	Pools             []pool    `json:"pools"`
	Text              *longText `json:"text"`
}

type request struct {
	Documents int     `json:"documents"`
	File      *string `json:"file"`
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func quoted(text string) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	check(encoder.Encode(text))
	return strings.TrimSuffix(out.String(), "\n")
}

// The text before the field, which the engine needs between any two, and the field's values.
func expanded(of pool) (string, []string) {
	total := 0
	optional := false
	for place, weight := range of.Weights {
		total += weight
		optional = optional || of.Values[place] == ""
	}
	name := fmt.Sprintf(",%s:", quoted(of.Field))
	before, within := name, ""
	if optional {
		before, within = " ", name
	}
	var slots []string
	for place, value := range of.Values {
		fragment := ""
		if value != "" {
			fragment = within + value
		}
		count := of.Weights[place] * weightSlots / total
		for copies := 0; copies < max(1, count); copies++ {
			slots = append(slots, fragment)
		}
	}
	return before, slots
}

// A generator of documents without their ends, and one for the lines of the long text.
type generators struct {
	documents *genlib.GeneratorWithCustomTemplate
	lines     *genlib.GeneratorWithCustomTemplate
	sizes     []int
	chance    *rand.Rand
}

type setting struct {
	Name   string   `json:"name"`
	Enum   []string `json:"enum,omitempty"`
	Period string   `json:"period,omitempty"`
}

func generator(template string, fields genlib.Fields, settings []setting, events uint64) *genlib.GeneratorWithCustomTemplate {
	content, err := json.Marshal(map[string]any{"fields": settings})
	check(err)
	loaded, err := config.LoadConfigFromYaml(content)
	check(err)
	made, err := genlib.NewGeneratorWithCustomTemplate([]byte(template), loaded, fields, events)
	check(err)
	return made
}

func prepare(looks profile, seed int64) generators {
	step := time.Duration(looks.StepMilliseconds * float64(time.Millisecond))
	events := min(uint64(most), uint64(1<<62)/uint64(max(step, 1)))
	fields := genlib.Fields{{Name: "Time", Type: genlib.FieldTypeDate}}
	settings := []setting{{Name: "Time", Period: (step * time.Duration(events)).String()}}
	template := `{"@timestamp":"{{.Time}}"`
	for _, each := range looks.Pools {
		name := fmt.Sprintf("F%d", len(fields))
		before, values := expanded(each)
		fields = append(fields, genlib.Field{Name: name, Type: genlib.FieldTypeKeyword})
		settings = append(settings, setting{Name: name, Enum: values})
		template += before + "{{." + name + "}}"
	}
	genlib.InitGeneratorRandSeed(seed)
	genlib.InitGeneratorTimeNow(time.UnixMilli(looks.FirstMilliseconds).UTC())
	if looks.Text == nil {
		return generators{documents: generator(template+"}\n", fields, settings, events)}
	}
	template += fmt.Sprintf(`,%s:"`, quoted(looks.Text.Field))
	var lines []string
	for _, line := range looks.Text.Lines {
		inside := quoted(line)
		lines = append(lines, inside[1:len(inside)-1])
	}
	text := genlib.Fields{{Name: "Line", Type: genlib.FieldTypeKeyword}}
	return generators{
		documents: generator(template, fields, settings, events),
		lines:     generator(`{{.Line}}\n`, text, []setting{{Name: "Line", Enum: lines}}, 0),
		sizes:     looks.Text.Sizes,
		chance:    rand.New(rand.NewSource(seed)),
	}
}

func (from generators) emit(buffer *bytes.Buffer) {
	check(from.documents.Emit(buffer))
	if from.lines == nil {
		return
	}
	end := buffer.Len() + from.sizes[from.chance.Intn(len(from.sizes))]
	for buffer.Len() < end {
		check(from.lines.Emit(buffer))
	}
	buffer.WriteString("\"}\n")
}

func write(from generators, documents int, target io.Writer) int {
	var buffer bytes.Buffer
	size := 0
	for made := 0; made < documents; made++ {
		from.emit(&buffer)
		if buffer.Len() >= atOnce || made == documents-1 {
			size += buffer.Len()
			if target != nil {
				_, err := target.Write(buffer.Bytes())
				check(err)
			}
			buffer.Reset()
		}
	}
	return size
}

func main() {
	seed := flag.Int64("seed", 1, "")
	worker := flag.Int("worker", 0, "")
	workers := flag.Int("workers", 1, "")
	version := flag.String("version", "", "")
	flag.Parse()
	content, err := os.ReadFile(flag.Arg(0))
	check(err)
	var looks profile
	check(json.Unmarshal(content, &looks))
	made := prepare(looks, *seed+int64(*worker))
	fmt.Printf("{\"version\": %q}\n", *version)
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		var wanted request
		check(json.Unmarshal(input.Bytes(), &wanted))
		blocks := (wanted.Documents + block - 1) / block
		documents := (blocks + *workers - 1 - *worker) / *workers * block
		started := time.Now()
		size := 0
		if wanted.File != nil {
			file, err := os.Create(*wanted.File)
			check(err)
			size = write(made, documents, file)
			check(file.Sync())
			check(file.Close())
		} else {
			size = write(made, documents, nil)
		}
		fmt.Printf("{\"documents\": %d, \"bytes\": %d, \"seconds\": %f}\n", documents, size, time.Since(started).Seconds())
	}
}
